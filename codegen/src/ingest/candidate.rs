//! A revision that is to be recorded.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use mcp_json_schema::Dialect;

use super::check::{check_generates, current_generates, directory_with};
use super::error::IngestError;
use super::inherited::inherited_overlay;
use super::official::{Official, canonical_json, read_official};
use super::options::{IngestOptions, Position};
use super::successor::{LeftOut, Passed, Successor};
use crate::cache::Cache;
use crate::error::GenerateError;
use crate::files::write_file;
use crate::load::{Entry, MANIFEST, Manifest, OVERLAY, Revision, SCHEMA};
use crate::problem::Problem;
use crate::protocol::Protocol;

/// The result of ingesting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ingested {
    /// The schema that was written.
    pub schema: PathBuf,
    /// The overlay that was written, from that of the revision before.
    pub overlay: Option<PathBuf>,
    /// The entries of the previous revision's overlay that don't fit this schema.
    pub left_out: Vec<LeftOut>,
    /// The hash of the official bytes.
    pub sha256: String,
    /// The dialect of the schema.
    pub dialect: Dialect,
    /// Whether the revision is new in the manifest.
    pub is_new: bool,
    /// The problems of drafts, whose entries and rules are left out or ignored, and what sessions with a new revision and
    /// conversions lack.
    pub warnings: Vec<Problem>,
}

/// A revision, or an extension, that is to be recorded once it passes all checks.
pub(super) struct Candidate {
    pub(super) manifest: Manifest,
    pub(super) entry: Entry,
    pub(super) folder: PathBuf,
    pub(super) official: Official,
    pub(super) is_new: bool,
}

impl Candidate {
    /// Reads a revision, and derives its overlay if it is new and has none.
    pub(super) fn new(options: &IngestOptions, cache: &Cache) -> Result<(Self, Option<Successor>), IngestError> {
        let mut manifest = Manifest::load(&options.schema)?;
        let known = manifest.entry(options.revision.as_str()).cloned();
        let (mut official, sha256) = read_official(options, known.as_ref(), &manifest)?;
        let is_new = known.is_none();
        let entry = new_entry(options, known, &sha256, official.dialect);
        place_entry(&mut manifest, entry.clone(), &options.position)?;
        let folder = options.schema.join(entry.revision.as_str());
        let has_overlay = folder.join(OVERLAY).exists();
        let revisions = manifest.revisions.iter();
        let earlier = revisions.take_while(|earlier| earlier.revision != entry.revision);
        let before = earlier.last();
        official.define_inlined((&options.schema, cache), before);
        let predecessor = before.filter(|_| is_new && !has_overlay);
        let inherited = (&entry.revision, &official.schema);
        let inherited = inherited_overlay((&options.schema, cache), predecessor, inherited, (&manifest, false))?;
        let candidate = Self {
            manifest,
            entry,
            folder,
            official,
            is_new,
        };
        Ok((candidate, inherited))
    }

    /// Returns the check of the revision with an overlay.
    pub(super) fn check<'c>(
        &'c self,
        options: &'c IngestOptions,
        cache: &'c Cache,
    ) -> impl FnMut(Option<&str>) -> Result<Protocol, GenerateError> {
        // Computed at most once: several overlays may be tried, but the current files stay the same.
        let current = LazyCell::new(|| current_generates(&options.schema, &self.entry, cache));
        move |overlay| {
            let directory = directory_with((&options.schema, cache), &self.folder, &self.official.schema, overlay)?;
            check_generates((&directory, cache), &self.manifest, &self.entry, || *current)
        }
    }

    /// Returns a revision that passes all checks.
    pub(super) fn passing(options: &IngestOptions, cache: &Cache) -> Result<(Self, Passed), IngestError> {
        let (candidate, inherited) = Self::new(options, cache)?;
        let passed = inherited.unwrap_or_default().passing(candidate.check(options, cache))?;
        Ok((candidate, passed))
    }

    pub(super) fn write(self, passed: Passed, directory: &Path) -> Result<Ingested, IngestError> {
        let schema = self.official.schema.root();
        let schema = canonical_json(schema).map_err(GenerateError::from)?;
        let recorded = self.manifest.to_yaml().map_err(GenerateError::from)?;
        let schema_path = self.folder.join(SCHEMA);
        // The manifest is written last, when the files that it names exist.
        write_file(&schema_path, &schema)?;
        let overlay = passed.overlay.map(|text| (self.folder.join(OVERLAY), text));
        if let Some((path, text)) = &overlay {
            write_file(path, text)?;
        }
        write_file(&directory.join(MANIFEST), &recorded)?;
        Ok(Ingested {
            schema: schema_path,
            overlay: overlay.map(|(path, _)| path),
            left_out: passed.left_out,
            sha256: self.entry.sha256,
            dialect: self.official.dialect,
            is_new: self.is_new,
            warnings: passed.checked.warnings,
        })
    }
}

/// Returns the entry to record. If the schema is the same, known values that aren't given again stay.
pub(super) fn new_entry(options: &IngestOptions, known: Option<Entry>, sha256: &str, dialect: Dialect) -> Entry {
    let new = || Entry::new(options.revision.clone(), options.from.clone(), sha256.into(), dialect);
    let mut entry = known.unwrap_or_else(new);
    if entry.sha256 != sha256 {
        entry.accepted.retain(|hash| hash != sha256);
        entry.accepted.push(std::mem::replace(&mut entry.sha256, sha256.into()));
        entry.source.clone_from(&options.from);
        entry.commit = None;
    }
    Entry {
        source: options.source.clone().unwrap_or(entry.source),
        commit: options.commit.clone().or(entry.commit),
        dialect,
        released: options.draft.map_or(entry.released, |draft| !draft),
        ..entry
    }
}

/// Puts an entry at a position of the manifest, in place of the one that the revision may have there.
fn place_entry(manifest: &mut Manifest, entry: Entry, position: &Position) -> Result<(), IngestError> {
    let revisions = &mut manifest.revisions;
    let index_of =
        |revisions: &[Entry], wanted: &Revision| revisions.iter().position(|entry| entry.revision == *wanted);
    let old = index_of(revisions, &entry.revision);
    if let Some(old) = old {
        revisions.remove(old);
    }
    let beside = |wanted: &Revision| {
        index_of(revisions, wanted).ok_or_else(|| {
            let known: Vec<_> = revisions.iter().map(|entry| entry.revision.as_str()).collect();
            let known = if known.is_empty() { vec!["none"] } else { known };
            IngestError::NoNeighbour {
                wanted: wanted.clone(),
                known: known.join(", "),
            }
        })
    };
    let index = match position {
        Position::Keep => old.unwrap_or(revisions.len()),
        Position::After(neighbour) => beside(neighbour)? + 1,
        Position::Before(neighbour) => beside(neighbour)?,
    };
    revisions.insert(index, entry);
    Ok(())
}
