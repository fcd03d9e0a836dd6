//! The files of a schema directory.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Document, Entry, Manifest, Revision, load_document, read_document};
use crate::problem::{Problem, Problems};
use crate::protocol::Protocol;

/// The file of the corrections to a revision's schema.
pub(crate) const OVERLAY: &str = "overlay.yaml";

/// The file of a revision's published names.
pub const NAMES: &str = "names.yaml";

/// The files in the directory of a revision.
#[derive(Debug)]
pub struct RevisionDocuments {
    /// The manifest's entry of the revision.
    pub entry: Entry,
    /// `schema.json`.
    pub schema: Document,
    /// `overlay.yaml`.
    pub overlay: Document,
    /// `adapt.yaml`: the rules between the revision and the one before it.
    pub rules: Document,
    /// `names.yaml`: the published names.
    pub names: Document,
}

/// The files about all revisions.
#[derive(Debug)]
pub struct SharedDocuments {
    /// `docs.yaml`: documentation in our own words.
    pub docs: Document,
    /// `docs.yaml` of each revision, which takes precedence over the shared one.
    pub docs_of_revisions: BTreeMap<String, Document>,
    /// `modules.yaml`: the module of each definition.
    pub modules: Document,
    /// `capabilities.yaml`: the capability that each method needs.
    pub capabilities: Document,
    /// `lifecycle.yaml`: the methods that a session uses automatically.
    pub lifecycle: Document,
    /// `tolerances.yaml`: the mistakes in results that are tolerated.
    pub tolerances: Document,
}

/// The result of reading a schema directory.
#[derive(Debug)]
pub struct Loaded {
    /// The revisions whose files could all be read.
    pub protocol: Protocol<RevisionDocuments>,
    /// The problems of the files that couldn't be read. Nothing is generated then, but the other files are still checked.
    pub problems: Vec<Problem>,
}

impl SharedDocuments {
    /// All files of documentation: the shared one, then those of the revisions.
    pub fn docs(&self) -> impl Iterator<Item = &Document> {
        std::iter::once(&self.docs).chain(self.docs_of_revisions.values())
    }
}

impl Loaded {
    /// Empties the files about all revisions.
    pub(crate) fn without_shared(mut self) -> Self {
        let SharedDocuments {
            docs,
            docs_of_revisions,
            modules,
            capabilities,
            lifecycle,
            tolerances,
        } = &mut self.protocol.shared;
        let shared = [docs, modules, capabilities, lifecycle, tolerances];
        for document in shared.into_iter().chain(docs_of_revisions.values_mut()) {
            *document = Document::empty(document.file());
        }
        self
    }
}

/// Reads a schema directory. All files except the schemas may be missing.
///
/// # Errors
/// When the manifest can't be read or is invalid.
pub fn load(directory: &Path) -> Result<Loaded, Problems> {
    Ok(load_with(directory, Manifest::load(directory)?, &[]))
}

/// The files of a revision that aren't written yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingFiles<'d> {
    pub(crate) revision: &'d Revision,
    pub(crate) schema: &'d Document,
    /// `None` if the file stays as it is.
    pub(crate) overlay: Option<&'d Document>,
}

/// Reads a schema directory as it will be with this manifest and these files.
pub(crate) fn load_with(directory: &Path, manifest: Manifest, unwritten: &[PendingFiles<'_>]) -> Loaded {
    let (mut revisions, mut problems) = (Vec::new(), Vec::new());
    for entry in &manifest.revisions {
        let mut unwritten = unwritten.iter();
        let unwritten = unwritten.find(|unwritten| *unwritten.revision == entry.revision);
        match load_revision(directory, entry, unwritten) {
            Ok(revision) => revisions.push(revision),
            Err(found) => problems.extend(found),
        }
    }
    let mut shared = |name: &str| {
        optional_document(&directory.join(name)).unwrap_or_else(|found| {
            problems.extend(found);
            Document::empty(name)
        })
    };
    let of_revision = |entry: &Entry| {
        let revision = entry.revision.as_str();
        (revision.to_owned(), shared(&format!("{revision}/docs.yaml")))
    };
    let docs_of_revisions = manifest.revisions.iter().map(of_revision).collect();
    let shared = SharedDocuments {
        docs: shared("docs.yaml"),
        docs_of_revisions,
        modules: shared("modules.yaml"),
        capabilities: shared("capabilities.yaml"),
        lifecycle: shared("lifecycle.yaml"),
        tolerances: shared("tolerances.yaml"),
    };
    let protocol = Protocol {
        manifest,
        shared,
        revisions,
        warnings: Vec::new(),
    };
    Loaded { protocol, problems }
}

fn load_revision(
    directory: &Path,
    entry: &Entry,
    unwritten: Option<&PendingFiles<'_>>,
) -> Result<RevisionDocuments, Vec<Problem>> {
    let directory = directory.join(entry.revision.as_str());
    let schema = match unwritten {
        Some(unwritten) => Ok(unwritten.schema.clone()),
        None => load_document(&directory.join("schema.json")),
    };
    let overlay = match unwritten.and_then(|unwritten| unwritten.overlay) {
        Some(overlay) => Ok(overlay.clone()),
        None => optional_document(&directory.join(OVERLAY)),
    };
    let rules = optional_document(&directory.join("adapt.yaml"));
    let names = optional_document(&directory.join(NAMES));
    match (schema, overlay, rules, names) {
        (Ok(schema), Ok(overlay), Ok(rules), Ok(names)) => Ok(RevisionDocuments {
            entry: entry.clone(),
            schema,
            overlay,
            rules,
            names,
        }),
        (schema, overlay, rules, names) => {
            let found = [schema.err(), overlay.err(), rules.err(), names.err()];
            Err(found.into_iter().flatten().flatten().collect())
        }
    }
}

pub(crate) fn optional_document(path: &Path) -> Result<Document, Problems> {
    let document = read_document(path)?;
    Ok(document.unwrap_or_else(|| Document::empty(path.display().to_string())))
}
