//! The files of a schema directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::family::folders;
use super::{Document, Entry, Extension, Files, MANIFEST, Manifest, Revision, load_known, read_document};
use crate::problem::{Problem, Problems};

/// The file of a revision's schema.
pub(crate) const SCHEMA: &str = "schema.json";

/// The file of the corrections to a revision's schema.
pub(crate) const OVERLAY: &str = "overlay.yaml";

pub(crate) const EXTENSIONS: &str = "extensions";

/// The file of a revision's published names.
pub const NAMES: &str = "names.yaml";

/// The file of the documentation of types and members.
const DOCS: &str = "docs.yaml";

/// The files in the directory of a revision, or of an extension.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RevisionDocuments {
    pub(crate) entry: Entry,
    pub(crate) schema: Document,
    pub(crate) overlay: Document,
    /// `adapt.yaml`: the rules between the revision and the one before it.
    pub(crate) rules: Document,
    pub(crate) names: Document,
    /// `docs.yaml`, which takes precedence over that of all revisions.
    pub(crate) docs: Document,
    /// The manifest's entry of an extension, which names the revision that it extends.
    pub(crate) extension: Option<Extension>,
}

impl RevisionDocuments {
    /// Returns the folder of the files, relative to the schema directory.
    pub(crate) fn folder(&self) -> PathBuf {
        let revision = &self.entry.revision;
        match &self.extension {
            Some(extension) => extension_directory(Path::new(""), &extension.name, revision),
            None => PathBuf::from(revision.as_str()),
        }
    }
}

/// The files that apply to all revisions.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SharedDocuments {
    /// `docs.yaml`: the documentation of types and members.
    pub(crate) docs: Document,
    /// `modules.yaml`: the module of each definition.
    pub(crate) modules: Document,
    /// `capabilities.yaml`: the capability that each method requires.
    pub(crate) capabilities: Document,
    /// `lifecycle.yaml`: the methods and members that sessions handle automatically.
    pub(crate) lifecycle: Document,
    /// `tolerances.yaml`: the mistakes in results that are tolerated.
    pub(crate) tolerances: Document,
}

/// The result of reading a schema directory.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) manifest: Manifest,
    pub(crate) shared: SharedDocuments,
    /// The revisions whose files could all be read, in the manifest's order.
    pub(crate) revisions: Vec<RevisionDocuments>,
    /// The extensions whose files could all be read.
    pub(crate) extensions: Vec<RevisionDocuments>,
    /// The problems of the files that couldn't be read. If there are any, nothing is generated, but the other files are
    /// still checked.
    pub(crate) problems: Vec<Problem>,
}

impl Loaded {
    /// Empties the files that apply to all revisions, and the documentation of each revision.
    pub(crate) fn without_shared(mut self) -> Self {
        self.shared = SharedDocuments::default();
        for revision in &mut self.revisions {
            revision.docs = Document::default();
        }
        self
    }
}

/// Reads a schema directory. All files except the schemas can be missing.
pub(crate) fn load(directory: &Path) -> Result<Loaded, Problems> {
    Ok(Directory::new(directory, &Files::default()).load(Manifest::load(directory)?))
}

/// A schema directory, with documents that replace or add files in memory.
#[derive(Debug)]
pub(crate) struct Directory<'d> {
    path: &'d Path,
    known: &'d Files,
    pending: BTreeMap<PathBuf, Document>,
}

impl<'d> Directory<'d> {
    /// A directory as it is on disk.
    pub(crate) fn new(path: &'d Path, known: &'d Files) -> Self {
        Self {
            path,
            known,
            pending: BTreeMap::new(),
        }
    }

    /// Replaces or adds a file.
    pub(crate) fn put(&mut self, file: PathBuf, document: Document) {
        self.pending.insert(file, document);
    }

    /// Reads the files that the manifest names.
    pub(crate) fn load(&self, manifest: Manifest) -> Loaded {
        let (mut revisions, mut problems) = (Vec::<RevisionDocuments>::new(), Vec::new());
        for entry in &manifest.revisions {
            let folder = self.path.join(entry.revision.as_str());
            revisions.extend(self.revision(&folder, (entry, None), &mut problems));
        }
        let mut extensions = Vec::new();
        for (name, extension) in &manifest.extensions {
            let own_folder = || extension_directory(self.path, name, &extension.schema.revision);
            let folder = extension.folder.clone().unwrap_or_else(own_folder);
            extensions.extend(self.revision(&folder, (&extension.schema, Some(extension)), &mut problems));
        }
        let mut shared = |name: &str| self.document(&self.path.join(name), false, &mut problems);
        let shared = SharedDocuments {
            docs: shared(DOCS),
            modules: shared("modules.yaml"),
            capabilities: shared("capabilities.yaml"),
            lifecycle: shared("lifecycle.yaml"),
            tolerances: shared("tolerances.yaml"),
        };
        Loaded {
            manifest,
            shared,
            revisions,
            extensions,
            problems,
        }
    }

    /// Reads the files in a folder. Returns `None` if one has problems.
    fn revision(
        &self,
        folder: &Path,
        (entry, extension): (&Entry, Option<&Extension>),
        problems: &mut Vec<Problem>,
    ) -> Option<RevisionDocuments> {
        let before = problems.len();
        let mut read = |name: &str| self.document(&folder.join(name), name == SCHEMA, problems);
        let documents = RevisionDocuments {
            entry: entry.clone(),
            schema: read(SCHEMA),
            overlay: read(OVERLAY),
            rules: read("adapt.yaml"),
            names: read(NAMES),
            docs: read(DOCS),
            extension: extension.cloned(),
        };
        (problems.len() == before).then_some(documents)
    }

    /// Reads a file. Returns an empty document if it has problems, or if it is missing and may be.
    fn document(&self, file: &Path, required: bool, problems: &mut Vec<Problem>) -> Document {
        let read = match self.pending.get(file) {
            Some(document) => Ok(Some(document.clone())),
            None if required => load_known(file, self.known).map(Some),
            None => read_document(file, self.known),
        };
        let document = read.map_err(|found| problems.extend(found)).ok().flatten();
        document.unwrap_or_else(|| empty_document(file))
    }
}

/// Returns the directory of an extension's files.
pub(crate) fn extension_directory(schema: &Path, name: &str, version: &Revision) -> PathBuf {
    schema.join(EXTENSIONS).join(name).join(version.as_str())
}

/// Returns the names of the folders of a schema directory that neither its manifest lists nor are other families. They
/// are never read.
#[must_use]
pub fn unlisted_folders(schema: &Path, manifest: &Manifest) -> Vec<String> {
    let folders = folders(schema)
        .into_iter()
        .filter(|folder| !folder.join(MANIFEST).is_file());
    let names = folders.filter_map(|folder| Some(folder.file_name()?.to_string_lossy().into_owned()));
    let is_listed = |name: &str| manifest.entry(name).is_some() || name == EXTENSIONS;
    names
        .filter(|name| !is_listed(name) && !name.starts_with('.'))
        .collect()
}

pub(crate) fn optional_document(path: &Path) -> Result<Document, Problems> {
    let document = read_document(path, &Files::default())?;
    Ok(document.unwrap_or_else(|| empty_document(path)))
}

fn empty_document(path: &Path) -> Document {
    Document::empty(path.display().to_string())
}
