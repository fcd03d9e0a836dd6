//! Ingesting the schema of an extension.

use std::path::{Path, PathBuf};

use super::official::Official;
use super::{IngestError, IngestOptions, Ingested, check_hash, fetch, inherited_overlay, new_entry, unwritable};
use crate::crates::emit_extension;
use crate::error::GenerateError;
use crate::files::write_file;
use crate::ingest::canonical::canonical_json;
use crate::ingest::successor::Passed;
use crate::load::{
    Document, Extension, Format, MANIFEST, Manifest, OVERLAY, PendingFiles, Revision, extension_directory,
    load_with_extension,
};
use crate::problem::Problem;
use crate::stages::planned;

/// What is said of an extension beside its schema.
#[derive(Debug, Clone)]
pub struct ExtensionOptions {
    /// What peers declare it as, such as `com.example/billing`.
    pub id: String,
    /// The name of its folder, and the end of its crate's; the last part of the id where there is none.
    pub name: Option<String>,
    /// The revision of the protocol that it extends.
    pub of: Revision,
    /// Whether its schema is published with it, and not written after its text.
    pub official: bool,
}

/// Ingests an extension. The revision of the options is the extension's own version, and their position means nothing.
///
/// # Errors
/// As [`ingest`](super::ingest()). No file is changed then.
pub fn ingest_extension(extension: &ExtensionOptions, schema: &IngestOptions) -> Result<Ingested, IngestError> {
    let ExtensionOptions { id, of, name, .. } = extension;
    let name = name.as_deref().unwrap_or_else(|| last_part(id));
    let mut manifest = Manifest::load(&schema.schema)?;
    let bytes = fetch::fetch(&schema.from)?;
    let sha256 = super::sha256(&bytes);
    if let Some(other) = manifest.extensions.get(name).filter(|other| other.id != *id) {
        return Err(IngestError::NameTaken {
            name: name.to_owned(),
            id: other.id.clone(),
        });
    }
    let before = manifest.extensions.get(name).map(|extension| extension.schema.clone());
    let known = before.clone().filter(|entry| entry.revision == schema.revision);
    if let Some(entry) = &known {
        check_hash(schema, entry, &sha256)?;
    }
    let document = Document::parse(&schema.from, &bytes, Format::of(&schema.from, &bytes))?;
    let mut official = Official::of(&document, &manifest.aliases, schema.keep_prose);
    if let Some(core) = manifest.entry(of.as_str()) {
        official = official.in_dialect(core.dialect);
    }
    let is_new = known.is_none();
    let entry = new_entry(schema, known, &sha256, official.dialect);
    let extension = Extension {
        id: id.clone(),
        of: of.clone(),
        official: extension.official,
        schema: entry.clone(),
        folder: None,
    };
    manifest.extensions.insert(name.to_owned(), extension);
    let recorded = manifest.to_yaml().map_err(|error| unwritable("manifest", &error))?;
    // What is wrong with the id or the name is found as it would be when the manifest is read.
    let manifest = Manifest::parse(MANIFEST, &recorded)?;

    let check = |overlay: Option<&str>| check(&schema.schema, &manifest, name, (&official.schema, overlay));
    let directory = extension_directory(&schema.schema, name, &entry.revision);
    let predecessor = before.filter(|_| is_new && !directory.join(OVERLAY).exists());
    let versions = directory.parent().unwrap_or(&directory);
    let inherited = inherited_overlay(versions, predecessor.as_ref(), &entry.revision, &official.schema)?;
    let passed = match inherited {
        Some(inherited) => inherited.passing(check)?,
        None => Passed {
            checked: check(None)?,
            overlay: None,
            left_out: Vec::new(),
        },
    };
    let path = directory.join("schema.json");
    let text = canonical_json(official.schema.root()).map_err(|error| unwritable("schema", &error))?;
    write_file(&path, &text)?;
    let overlay: Option<(PathBuf, String)> = passed.overlay.map(|text| (directory.join(OVERLAY), text));
    if let Some((path, text)) = &overlay {
        write_file(path, text)?;
    }
    write_file(&schema.schema.join(MANIFEST), &recorded)?;
    Ok(Ingested {
        schema: path,
        overlay: overlay.map(|(path, _)| path),
        left_out: passed.left_out,
        sha256,
        dialect: official.dialect,
        is_new,
        warnings: passed.checked,
    })
}

/// The problems that [`generate`](crate::generate()) would report with this schema as that of an extension, and with the overlay if it is
/// to be written. Returns the warnings.
fn check(
    directory: &Path,
    manifest: &Manifest,
    name: &str,
    (schema, overlay): (&Document, Option<&str>),
) -> Result<Vec<Problem>, GenerateError> {
    let overlay = overlay.map(|text| Document::parse(OVERLAY, text.as_bytes(), Format::Yaml));
    let overlay = overlay.transpose()?;
    let unwritten = PendingFiles {
        revision: &manifest.extensions[name].schema.revision,
        schema,
        overlay: overlay.as_ref(),
    };
    let loaded = load_with_extension(directory, manifest.clone(), &[], Some((name, &unwritten)));
    let protocol = planned(loaded)?;
    emit_extension(&protocol, name)?;
    Ok(protocol.warnings)
}

/// The last part of an id.
pub(crate) fn last_part(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}
