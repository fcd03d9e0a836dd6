//! Checks whether crates can be generated with a schema that isn't written yet.

use std::path::Path;

use crate::adapt::plan_protocol;
use crate::emit::emit_protocol;
use crate::error::GenerateError;
use crate::generate::model;
use crate::load::{Document, Entry, Loaded, Manifest, load, load_with};

/// The problems that [`generate`](crate::generate()) would report with `schema` as the schema of a revision, and with
/// `manifest`.
///
/// If `generate` already fails with the current files, the revision is checked alone.
pub(super) fn check_generates(
    directory: &Path,
    manifest: &Manifest,
    entry: &Entry,
    schema: &Document,
) -> Result<(), GenerateError> {
    let replaced = Some((entry, schema));
    let stopped = run(load_with(directory, manifest.clone(), replaced));
    if stopped.is_ok() || load(directory).map_err(GenerateError::from).and_then(run).is_ok() {
        return stopped;
    }
    let alone = Manifest {
        revisions: vec![entry.clone()],
        hub: None,
        ..manifest.clone()
    };
    run(load_with(directory, alone, replaced).without_shared())
}

fn run(loaded: Loaded) -> Result<(), GenerateError> {
    emit_protocol(&plan_protocol(model(loaded)?)?, "").map(|_| ())
}
