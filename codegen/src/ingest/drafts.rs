//! Schemas that aren't ingested, treated as if they were.

use std::path::Path;

use super::inherited::inherited_overlay;
use super::official::Official;
use crate::cache::Cache;
use crate::error::GenerateError;
use crate::load::{
    Directory, Document, Entry, Format, Manifest, OVERLAY, Revision, RevisionError, SCHEMA, load_document,
    optional_document,
};
use crate::problem::{Problem, Problems};
use crate::protocol::Protocol;
use crate::stages::model_draft;

/// A schema directory, and schemas that are treated as if they were in it.
pub(crate) struct Drafts<'d> {
    path: &'d Path,
    cache: &'d Cache,
    directory: Directory<'d>,
    manifest: Manifest,
    drafts: Vec<Revision>,
}

impl<'d> Drafts<'d> {
    pub(crate) fn new(path: &'d Path, cache: &'d Cache) -> Result<Self, Problems> {
        Ok(Self {
            path,
            cache,
            directory: Directory::new(path, &cache.files),
            manifest: Manifest::load(path)?,
            drafts: Vec::new(),
        })
    }

    /// Returns the names of the revisions in their order.
    pub(crate) fn revisions(&self) -> Vec<String> {
        let revisions = self.manifest.revisions.iter();
        revisions.map(|entry| entry.revision.to_string()).collect()
    }

    /// Inserts a schema at a position among the revisions, with the overlay next to it or else the entries of the
    /// previous revision's overlay that fit. Returns the position.
    pub(crate) fn insert(&mut self, position: usize, file: &Path) -> Result<usize, GenerateError> {
        let mut official = Official::of(&load_document(file)?, &self.manifest, false);
        let overlay = optional_document(&file.with_file_name(OVERLAY))?;
        let revision = self.free_name()?;
        let is_ingested = |entry: &&Entry| !self.drafts.contains(&entry.revision);
        let mut earlier = self.manifest.revisions[..position].iter().rev();
        let before = earlier.find(is_ingested);
        official.define_inlined((self.path, self.cache), before);
        let predecessor = before.filter(|_| overlay.root().is_null());
        let inherited = inherited_overlay(
            (self.path, self.cache),
            predecessor,
            (&revision, &official.schema),
            (&self.manifest, false),
        )?;
        let source = file.display().to_string();
        let entry = Entry {
            released: false,
            ..Entry::new(revision.clone(), source, String::new(), official.dialect)
        };
        self.manifest.revisions.insert(position, entry);
        let folder = self.path.join(revision.as_str());
        self.drafts.push(revision);
        self.directory.put(folder.join(SCHEMA), official.schema);
        self.directory.put(folder.join(OVERLAY), overlay);
        if let Some(inherited) = inherited {
            // The overlay that is checked last stays in the directory.
            inherited.passing(|text| {
                let text = text.unwrap_or_default();
                let overlay = Document::parse(OVERLAY, text.as_bytes(), Format::Yaml)?;
                self.directory.put(folder.join(OVERLAY), overlay);
                Ok(self.model()?)
            })?;
        }
        Ok(position)
    }

    /// Returns the models of the revisions and the drafts, in their order.
    pub(crate) fn model(&self) -> Result<Protocol, Problems> {
        model_draft(self.directory.load(self.manifest.clone()), self.cache)
    }

    fn free_name(&self) -> Result<Revision, Problems> {
        let mut names = (1..).map(|number| format!("draft-{number}"));
        let free = names
            .find(|name| self.manifest.entry(name).is_none())
            .unwrap_or_default();
        let problem = |error: RevisionError| Problem::new(&free, error.to_string()).into();
        free.parse().map_err(problem)
    }
}
