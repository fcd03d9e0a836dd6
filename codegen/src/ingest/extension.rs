//! Ingesting the schema of an extension.

use mcp_json_schema::pointer;

use super::candidate::{Candidate, Ingested, new_entry};
use super::check::directory_with;
use super::error::IngestError;
use super::inherited::inherited_overlay;
use super::official::read_official;
use super::options::IngestOptions;
use crate::cache::Cache;
use crate::crates::emit_extension;
use crate::error::GenerateError;
use crate::load::{Entry, Extension, MANIFEST, Manifest, OVERLAY, Revision, extension_directory};
use crate::problem::{Problem, Problems};
use crate::stages::planned;

/// The properties of an extension that aren't in its schema.
#[derive(Debug, Clone)]
pub struct ExtensionOptions {
    /// The id by which peers declare it, such as `com.example/billing`.
    pub id: String,
    /// The name of its folder, and the end of its crate's name. By default the last part of the id.
    pub name: Option<String>,
    /// The revision of the protocol that it extends.
    pub of: Revision,
    /// Whether its schema is published with it, and not written after its text.
    pub official: bool,
}

impl ExtensionOptions {
    pub(crate) fn name(&self) -> &str {
        let last = self.id.rsplit('/').next().unwrap_or(&self.id);
        self.name.as_deref().unwrap_or(last)
    }

    /// Returns the manifest with the extension, whose schema has this entry. The id and the name are checked as when the
    /// manifest is read.
    pub(crate) fn declared_in(&self, mut manifest: Manifest, schema: Entry) -> Result<Manifest, GenerateError> {
        let extension = Extension {
            name: self.name().to_owned(),
            id: self.id.clone(),
            of: self.of.clone(),
            official: self.official,
            schema,
            folder: None,
        };
        manifest.extensions.insert(extension.name.clone(), extension);
        let declared = Manifest::parse(MANIFEST, &manifest.to_yaml()?);
        Ok(declared.map_err(|problems| {
            problems
                .into_iter()
                .map(|problem| self.of_option(problem))
                .collect::<Problems>()
        })?)
    }

    /// Returns a problem of the extension's entry as one of the option that the entry was made from, because nobody has
    /// a file with the entry.
    fn of_option(&self, problem: Problem) -> Problem {
        let entry = pointer::child("#/extensions", self.name());
        let option = match problem.pointer.strip_prefix(&entry) {
            Some("") if self.name.is_some() => "--name",
            Some("") => {
                let problem = Problem::new("--extension", problem.what);
                return problem.help("give the extension another name by `--name`");
            }
            Some("/id") => "--extension",
            Some("/of") => "--of",
            _ => return problem,
        };
        Problem {
            help: problem.help,
            ..Problem::new(option, problem.what)
        }
    }
}

/// Ingests an extension. The revision of the options is the extension's own version, and their position is ignored.
///
/// # Errors
/// As [`ingest`](super::ingest()). No file is changed then.
pub fn ingest_extension(extension: &ExtensionOptions, schema: &IngestOptions) -> Result<Ingested, IngestError> {
    let (name, cache) = (extension.name(), &Cache::default());
    let manifest = Manifest::load(&schema.schema)?;
    let before = manifest.extensions.get(name);
    if let Some(other) = before.filter(|other| other.id != extension.id) {
        return Err(IngestError::NameTaken {
            name: name.to_owned(),
            id: other.id.clone(),
        });
    }
    let before = before.map(|extension| extension.schema.clone());
    let known = before.clone().filter(|entry| entry.revision == schema.revision);
    let (mut official, sha256) = read_official(schema, known.as_ref(), &manifest)?;
    if let Some(core) = manifest.entry(extension.of.as_str()) {
        official = official.in_dialect(core.dialect);
    }
    let is_new = known.is_none();
    let entry = new_entry(schema, known, &sha256, official.dialect);
    let folder = extension_directory(&schema.schema, name, &entry.revision);
    let predecessor = before.filter(|_| is_new && !folder.join(OVERLAY).exists());
    let versions = folder.parent().unwrap_or(&folder);
    let inherited = (&entry.revision, &official.schema);
    let inherited = inherited_overlay((versions, cache), predecessor.as_ref(), inherited, (&manifest, true))?;
    let manifest = extension.declared_in(manifest, entry.clone())?;
    let passed = inherited.unwrap_or_default().passing(|overlay| {
        let directory = directory_with((&schema.schema, cache), &folder, &official.schema, overlay)?;
        let protocol = planned(directory.load(manifest.clone()), cache)?;
        emit_extension((&protocol, cache), name)?;
        Ok(protocol)
    })?;
    let candidate = Candidate {
        manifest,
        entry,
        folder,
        official,
        is_new,
    };
    candidate.write(passed, &schema.schema)
}
