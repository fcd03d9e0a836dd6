//! The files of all crates.

use std::collections::BTreeSet;

use crate::cache::Cache;
use crate::emit::{AdaptersInput, EmitInput, emit_adapters, emit_crate};
use crate::error::GenerateError;
use crate::files::FileSet;
use crate::problem::Problems;
use crate::protocol::Protocol;

/// All generated files, in memory.
pub(crate) struct Emitted {
    pub(crate) files: FileSet,
    pub(crate) undocumented: Vec<Undocumented>,
}

/// The documentation that a revision or an extension lacks.
#[derive(Debug)]
pub struct Undocumented {
    /// The revision, or the id of the extension.
    pub name: String,
    /// Whether the manifest declares it as released.
    pub is_released: bool,
    /// The keys that `docs.yaml` lacks.
    pub keys: BTreeSet<String>,
}

/// Checks that the crate of a revision can be emitted.
pub(crate) fn check_emission((protocol, cache): (&Protocol, &Cache), revision: &str) -> Result<(), GenerateError> {
    let is_meant = |input: &EmitInput<'_>| input.extension().is_none() && input.model().revision == revision;
    if let Some(input) = EmitInput::all(protocol, "").find(is_meant) {
        Problems::check(emit_crate(&input, &cache.identifiers)?.problems)?;
    }
    Ok(())
}

/// Emits the crate of an extension, which depends on the published crates.
pub(crate) fn emit_extension((protocol, cache): (&Protocol, &Cache), name: &str) -> Result<FileSet, GenerateError> {
    let mut files = FileSet::default();
    let is_meant = |input: &EmitInput<'_>| input.extension().is_some_and(|extension| extension.name == name);
    for input in EmitInput::all(protocol, "").filter(is_meant) {
        let emitted = emit_crate(&input, &cache.identifiers)?;
        Problems::check(emitted.problems)?;
        files.insert_crate(&input.crate_name(), emitted.files)?;
    }
    Ok(files)
}

/// Emits the crates of all revisions and extensions, and the adapters crate, which depends on all revisions.
pub(crate) fn emit_protocol((protocol, cache): (&Protocol, &Cache), crates: &str) -> Result<Emitted, GenerateError> {
    let mut files = FileSet::default();
    let mut undocumented = Vec::new();
    let (mut identifiers, mut problems) = (Vec::new(), Vec::new());
    let mut documented = BTreeSet::new();
    for input in EmitInput::all(protocol, crates) {
        let emitted = emit_crate(&input, &cache.identifiers)?;
        problems.extend(emitted.problems);
        files.insert_crate(&input.crate_name(), emitted.files)?;
        let id = input.extension().map(|extension| &extension.id);
        undocumented.push(Undocumented {
            name: id.unwrap_or(&input.model().revision).clone(),
            is_released: input.revision.documents.entry.released,
            keys: emitted.undocumented,
        });
        documented.extend(emitted.documented);
        identifiers.push(emitted.identifiers);
    }
    problems.extend(protocol.docs.unused(&documented));
    Problems::check(problems)?;
    let manifest = &protocol.manifest;
    let mut revisions = manifest.revisions.iter();
    if let Some(hub) = revisions.position(|entry| Some(&entry.revision) == manifest.hub()) {
        let input = AdaptersInput {
            protocol,
            hub,
            identifiers: &identifiers[hub],
            crates,
        };
        let adapters = emit_adapters(&input)?;
        files.insert_crate(&manifest.family().adapters_crate(), adapters)?;
    }
    Ok(Emitted { files, undocumented })
}
