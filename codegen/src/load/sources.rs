//! Everything that a schema directory holds.

use std::path::Path;

use super::{Document, Entry, Manifest, load_document, read_document, read_text};
use crate::problem::Problems;
use crate::protocol::Protocol;

/// What the directory of a revision holds.
#[derive(Debug)]
pub struct RevisionDocuments {
    /// What the manifest says of the revision.
    pub entry: Entry,
    /// `schema.json`.
    pub schema: Document,
    /// `overlay.yaml`.
    pub overlay: Document,
    /// `adapt.yaml` and what it calls.
    pub rules: RuleDocuments,
}

/// The rules between a revision and the one before it.
#[derive(Debug)]
pub struct RuleDocuments {
    /// `adapt.yaml`.
    pub document: Document,
    /// The name of `adapt.rs`, as problems show it.
    pub functions_file: String,
    /// The text of `adapt.rs`, if there is one.
    pub functions: Option<String>,
}

/// What the schema directory says about all revisions.
#[derive(Debug)]
pub struct SharedDocuments {
    /// `docs.yaml`: documentation in our own words.
    pub docs: Document,
    /// `modules.yaml`: which definitions belong together.
    pub modules: Document,
    /// `capabilities.yaml`: which capability each method needs.
    pub capabilities: Document,
    /// `lifecycle.yaml`: which methods a session deals with by itself.
    pub lifecycle: Document,
    /// `tolerances.yaml`: what is tolerated in results.
    pub tolerances: Document,
}

impl Protocol<RevisionDocuments> {
    /// The same revisions, with nothing said about all of them.
    pub(crate) fn without_shared(mut self) -> Self {
        let SharedDocuments {
            docs,
            modules,
            capabilities,
            lifecycle,
            tolerances,
        } = &mut self.shared;
        for document in [docs, modules, capabilities, lifecycle, tolerances] {
            *document = Document::empty(document.file());
        }
        self
    }
}

/// Reads a schema directory. All files but the manifest's schemas may be missing.
///
/// # Errors
/// Every file that can't be read or is broken.
pub fn load(directory: &Path) -> Result<Protocol<RevisionDocuments>, Problems> {
    load_with(directory, Manifest::load(directory)?, None)
}

/// Reads a schema directory as it will be with this manifest, and with `replaced` as the schema of a revision.
pub(crate) fn load_with(
    directory: &Path,
    manifest: Manifest,
    replaced: Option<(&Entry, &Document)>,
) -> Result<Protocol<RevisionDocuments>, Problems> {
    let (mut revisions, mut problems) = (Vec::new(), Vec::new());
    for entry in &manifest.revisions {
        let schema = replaced.filter(|(replaced, _)| replaced.revision == entry.revision);
        match load_revision(directory, entry, schema.map(|(_, schema)| schema)) {
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
    let shared = SharedDocuments {
        docs: shared("docs.yaml"),
        modules: shared("modules.yaml"),
        capabilities: shared("capabilities.yaml"),
        lifecycle: shared("lifecycle.yaml"),
        tolerances: shared("tolerances.yaml"),
    };
    Problems::check(problems)?;
    Ok(Protocol {
        manifest,
        shared,
        revisions,
    })
}

fn load_revision(directory: &Path, entry: &Entry, schema: Option<&Document>) -> Result<RevisionDocuments, Problems> {
    let directory = directory.join(entry.revision.as_str());
    let functions = directory.join("adapt.rs");
    Ok(RevisionDocuments {
        entry: entry.clone(),
        schema: match schema {
            Some(schema) => schema.clone(),
            None => load_document(&directory.join("schema.json"))?,
        },
        overlay: optional_document(&directory.join("overlay.yaml"))?,
        rules: RuleDocuments {
            document: optional_document(&directory.join("adapt.yaml"))?,
            functions: read_text(&functions)?,
            functions_file: functions.display().to_string(),
        },
    })
}

fn optional_document(path: &Path) -> Result<Document, Problems> {
    let document = read_document(path)?;
    Ok(document.unwrap_or_else(|| Document::empty(path.display().to_string())))
}
