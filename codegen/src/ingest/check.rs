//! Whether crates can be generated with a schema that isn't written yet.

use std::path::Path;

use crate::adapt::plan_protocol;
use crate::emit::emit_protocol;
use crate::error::GenerateError;
use crate::generate::model;
use crate::load::{Document, Entry, Manifest, RevisionDocuments, load, load_with};
use crate::protocol::Protocol;

/// Says what would stop [`generate`](crate::generate()) if `schema` were the schema of a revision, and `manifest` the manifest.
///
/// If `generate` stops already as things are, the revision is judged alone.
pub(super) fn check_generates(
    directory: &Path,
    manifest: &Manifest,
    entry: &Entry,
    schema: &Document,
) -> Result<(), GenerateError> {
    let replaced = Some((entry, schema));
    let stopped = match load_with(directory, manifest.clone(), replaced) {
        Ok(documents) => run(documents),
        Err(problems) => Err(problems.into()),
    };
    if stopped.is_ok() || load(directory).map_err(GenerateError::from).and_then(run).is_ok() {
        return stopped;
    }
    let alone = Manifest {
        revisions: vec![entry.clone()],
        hub: None,
        ..manifest.clone()
    };
    run(load_with(directory, alone, replaced)?.without_shared())
}

fn run(documents: Protocol<RevisionDocuments>) -> Result<(), GenerateError> {
    emit_protocol(&plan_protocol(model(documents)?)?, "").map(|_| ())
}
