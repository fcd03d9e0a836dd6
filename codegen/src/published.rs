//! The pipeline to the published names: a schema directory in, its `names.yaml` files out.

use std::path::Path;

use crate::cache::Cache;
use crate::error::GenerateError;
use crate::files::{FileSet, Report};
use crate::load::{Entry, NAMES, load};
use crate::model::names_yaml;
use crate::protocol::Protocol;
use crate::stages::model;

/// Writes the names of each released revision's types into its `names.yaml`, from where they are kept. A draft's names may
/// still change.
///
/// # Errors
/// Problems of the input, a published name that would be lost among them, and files that can't be read or written.
pub fn lock_names(schema: &Path) -> Result<Report, GenerateError> {
    let protocol = model(load(schema)?, &Cache::default())?;
    Ok(names_files(&protocol, |entry, _| entry.released)?.write(schema, &[])?)
}

/// Compares the names of each released revision's types with its `names.yaml`, and writes nothing.
///
/// # Errors
/// Those of [`lock_names`].
pub fn check_names(schema: &Path) -> Result<Report, GenerateError> {
    let protocol = model(load(schema)?, &Cache::default())?;
    Ok(names_files(&protocol, |entry, _| entry.released)?.check(schema, &[])?)
}

/// The `names.yaml` files of revisions and extensions, by their paths in the schema directory: of those that are wanted, by their
/// entries and by whether they have such a file.
pub(crate) fn names_files(
    protocol: &Protocol,
    wanted: impl Fn(&Entry, bool) -> bool,
) -> Result<FileSet, GenerateError> {
    let mut files = FileSet::default();
    for revision in protocol.all() {
        if wanted(revision.entry(), revision.is_locked()) {
            files.insert(revision.documents.folder().join(NAMES), names_yaml(&revision.model)?)?;
        }
    }
    Ok(files)
}
