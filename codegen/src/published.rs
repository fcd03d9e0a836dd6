//! The commands for the published names: they write or check the `names.yaml` files of a schema directory.

use std::path::Path;

use crate::cache::Cache;
use crate::error::GenerateError;
use crate::files::{FileSet, Report};
use crate::load::{NAMES, load};
use crate::model::{ModelledRevision, names_yaml};
use crate::protocol::Protocol;
use crate::stages::model;

/// Writes the names of each released revision's types into its `names.yaml`, which keeps them from changing. The names
/// of a draft can still change. With `check`, nothing is written.
///
/// # Errors
/// Problems of the input, including the loss of a published name, and files that can't be read or written.
pub fn lock_names(schema: &Path, check: bool) -> Result<Report, GenerateError> {
    let protocol = model(load(schema)?, &Cache::default())?;
    let names = names_files(&protocol, |revision| revision.entry().released)?;
    Ok(names.write_or_check(schema, &[], check)?)
}

/// Returns the `names.yaml` files of the wanted revisions and extensions, by their paths in the schema directory.
pub(crate) fn names_files(
    protocol: &Protocol,
    wanted: impl Fn(&ModelledRevision) -> bool,
) -> Result<FileSet, GenerateError> {
    let mut files = FileSet::default();
    for revision in protocol.all().filter(|revision| wanted(revision)) {
        files.insert(revision.documents.folder().join(NAMES), names_yaml(&revision.model)?)?;
    }
    Ok(files)
}
