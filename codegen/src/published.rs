//! The pipeline to the published names: a schema directory in, its `names.yaml` files out.

use std::path::Path;

use crate::error::GenerateError;
use crate::files::{FileSet, Report};
use crate::load::{NAMES, load};
use crate::model::{ModelledRevision, names_yaml};
use crate::modelled::model;

/// Writes the names of each released revision's types into its `names.yaml`, from where they are kept. A draft's names may
/// still change.
///
/// # Errors
/// Problems of the input, a published name that would be lost among them, and files that can't be read or written.
pub fn lock_names(schema: &Path) -> Result<Report, GenerateError> {
    let protocol = model(load(schema)?)?;
    let released = protocol.revisions.iter().filter(|revision| revision.entry.released);
    Ok(names_files(released)?.write(schema, &[])?)
}

/// Compares the names of each released revision's types with its `names.yaml`, and writes nothing.
///
/// # Errors
/// Those of [`lock_names`].
pub fn check_names(schema: &Path) -> Result<Report, GenerateError> {
    let protocol = model(load(schema)?)?;
    let released = protocol.revisions.iter().filter(|revision| revision.entry.released);
    Ok(names_files(released)?.check(schema, &[])?)
}

/// The `names.yaml` files of revisions, by their paths in the schema directory.
pub(crate) fn names_files<'r>(revisions: impl Iterator<Item = &'r ModelledRevision>) -> Result<FileSet, GenerateError> {
    let mut files = FileSet::default();
    for revision in revisions {
        files.insert(
            format!("{}/{NAMES}", revision.entry.revision),
            names_yaml(&revision.model)?,
        )?;
    }
    Ok(files)
}
