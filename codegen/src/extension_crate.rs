//! The crate of an extension whose files needn't be in the schema directory.

use std::path::PathBuf;

use crate::cache::Cache;
use crate::crates::emit_extension;
use crate::error::GenerateError;
use crate::files::Report;
use crate::ingest::{ExtensionOptions, Official, sha256};
use crate::load::{Directory, Entry, MANIFEST, Manifest, Revision, SCHEMA, load_document};
use crate::problem::{Problem, Problems};
use crate::stages::planned;

/// The options of [`generate_extension`].
#[derive(Debug, Clone)]
pub struct ExtensionCrateOptions {
    /// The directory of the schemas of the protocol.
    pub schemas: PathBuf,
    /// The folder of the extension: `schema.json`, and optionally `overlay.yaml`, `docs.yaml` and `names.yaml`.
    pub folder: PathBuf,
    /// The extension.
    pub extension: ExtensionOptions,
    /// The extension's own version.
    pub version: Revision,
    /// The address of the extension's specification.
    pub link: Option<String>,
    /// The directory in which the crate's directory is created.
    pub out: PathBuf,
    /// Whether to write nothing, and only compare the files.
    pub check: bool,
}

/// Generates the crate of an extension, which depends on the published crates. Descriptions in its schema become
/// documentation of the types and members that `docs.yaml` doesn't document.
///
/// # Errors
/// All problems that a stage finds in the input. In that case nothing is written.
pub fn generate_extension(options: &ExtensionCrateOptions) -> Result<Report, GenerateError> {
    let name = options.extension.name();
    let manifest = Manifest::load(&options.schemas)?;
    let document = load_document(&options.folder.join(SCHEMA))?;
    let mut schema = Official::of(&document, &manifest, true);
    if let Some(core) = manifest.entry(options.extension.of.as_str()) {
        schema = schema.in_dialect(core.dialect);
    }
    let source = options.link.clone().unwrap_or_default();
    let sha256 = sha256(document.root().to_string().as_bytes());
    let entry = Entry::new(options.version.clone(), source, sha256, schema.dialect);
    if let Some(taken) = manifest.extensions.get(name) {
        let file = options.schemas.join(MANIFEST).display().to_string();
        let problem = Problem::new(file, format!("`{name}` is the name of the extension {}", taken.id));
        let problem = problem.pointer(format!("#/extensions/{name}"));
        return Err(Problems::from(problem.help("give the new extension another one by `--name`")).into());
    }
    let mut manifest = options.extension.declared_in(manifest, entry)?;
    if let Some(extension) = manifest.extensions.get_mut(name) {
        extension.folder = Some(options.folder.clone());
    }
    let cache = Cache::default();
    let mut directory = Directory::new(&options.schemas, &cache.files);
    directory.put(options.folder.join(SCHEMA), schema.schema);
    let protocol = planned(directory.load(manifest), &cache)?;
    let files = emit_extension((&protocol, &cache), name)?;
    let owned = protocol.manifest.family().extension_crate(name);
    Ok(files.write_or_check(&options.out, &[&owned], options.check)?)
}
