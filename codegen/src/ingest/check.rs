//! Checks whether crates can be generated with a schema that isn't written yet.

use std::collections::BTreeMap;
use std::path::Path;

use crate::crates::{check_emission, emit_protocol};
use crate::error::GenerateError;
use crate::load::{Document, Entry, Format, Loaded, Manifest, OVERLAY, PendingFiles, load, load_with};
use crate::protocol::Protocol;
use crate::stages::planned;

/// The problems that [`generate`](crate::generate()) would report with `schema` as the schema of a revision, with
/// `overlay` if it is to be written, and with `manifest`.
///
/// If `generate` already fails with the current files, the revision is checked alone.
pub(super) fn check_generates(
    directory: &Path,
    manifest: &Manifest,
    entry: &Entry,
    schema: &Document,
    overlay: Option<&str>,
) -> Result<Protocol, GenerateError> {
    let overlay = overlay.map(|text| Document::parse(OVERLAY, text.as_bytes(), Format::Yaml));
    let overlay = overlay.transpose()?;
    let unwritten = [PendingFiles {
        revision: &entry.revision,
        schema,
        overlay: overlay.as_ref(),
    }];
    let run = |loaded: Loaded| -> Result<Protocol, GenerateError> {
        let protocol = planned(loaded)?;
        check_emission(&protocol, entry.revision.as_str())?;
        Ok(protocol)
    };
    let stopped = run(load_with(directory, manifest.clone(), &unwritten));
    if stopped.is_ok() || load(directory).map_err(GenerateError::from).and_then(run).is_ok() {
        return stopped;
    }
    let alone = Manifest {
        revisions: vec![entry.clone()],
        hub: None,
        extensions: BTreeMap::new(),
        ..manifest.clone()
    };
    run(load_with(directory, alone, &unwritten).without_shared())
}

/// The problems that [`generate`](crate::generate()) would report with these files.
pub(crate) fn check_loaded(loaded: Loaded) -> Result<(), GenerateError> {
    emit_protocol(&planned(loaded)?, "").map(|_| ())
}
