//! Checks whether crates can be generated with a schema that isn't written yet.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cache::Cache;
use crate::crates::{check_emission, emit_protocol};
use crate::error::GenerateError;
use crate::load::{Directory, Document, Entry, Format, Loaded, Manifest, OVERLAY, SCHEMA};
use crate::problem::Problems;
use crate::protocol::Protocol;
use crate::stages::{model_draft, plan, planned};

/// Returns a schema directory as it will be with this schema in a folder, and with this overlay, if one is to be
/// written.
pub(super) fn directory_with<'d>(
    (path, cache): (&'d Path, &'d Cache),
    folder: &Path,
    schema: &Document,
    overlay: Option<&str>,
) -> Result<Directory<'d>, Problems> {
    let mut directory = Directory::new(path, &cache.files);
    directory.put(folder.join(SCHEMA), schema.clone());
    if let Some(text) = overlay {
        let overlay = Document::parse(OVERLAY, text.as_bytes(), Format::Yaml)?;
        directory.put(folder.join(OVERLAY), overlay);
    }
    Ok(directory)
}

/// Checks that [`generate`](crate::generate()) would succeed with a schema directory that has the files of a revision,
/// and with `manifest`.
///
/// If `generate` already fails with the current files, only the revision is checked.
pub(super) fn check_generates(
    (directory, cache): (&Directory<'_>, &Cache),
    manifest: &Manifest,
    entry: &Entry,
    current_generates: impl Fn() -> bool,
) -> Result<Protocol, GenerateError> {
    let stopped = check(directory.load(manifest.clone()), entry, cache);
    if stopped.is_ok() || current_generates() {
        return stopped;
    }
    let alone = Manifest {
        revisions: vec![entry.clone()],
        hub: None,
        extensions: BTreeMap::new(),
        ..manifest.clone()
    };
    check(directory.load(alone).without_shared(), entry, cache)
}

/// Whether `generate` succeeds with the current files, as far as the crate of a revision is concerned. Their lines about
/// what no revision has may be about the revision that is to be added.
pub(super) fn current_generates(path: &Path, entry: &Entry, cache: &Cache) -> bool {
    let current = Manifest::load(path).and_then(|manifest| {
        let loaded = Directory::new(path, &cache.files).load(manifest);
        plan(model_draft(loaded, cache)?, cache)
    });
    current.is_ok_and(|protocol| check_emission((&protocol, cache), entry.revision.as_str()).is_ok())
}

fn check(loaded: Loaded, entry: &Entry, cache: &Cache) -> Result<Protocol, GenerateError> {
    let protocol = planned(loaded, cache)?;
    check_emission((&protocol, cache), entry.revision.as_str())?;
    Ok(protocol)
}

/// Checks that [`generate`](crate::generate()) would succeed with these files.
pub(crate) fn check_loaded(loaded: Loaded, cache: &Cache) -> Result<(), GenerateError> {
    emit_protocol((&planned(loaded, cache)?, cache), "").map(|_| ())
}
