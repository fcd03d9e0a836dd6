//! The files of all crates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::input::EmitInput;
use super::{
    ADAPTERS, AdapterTemplates, AdaptersInput, Docs, RevisionInput, Templates, callable_functions, crate_name,
    emit_adapters, emit_crate,
};
use crate::adapt::{Plan, PlannedRevision};
use crate::error::GenerateError;
use crate::files::FileSet;
use crate::problem::{Problem, Problems};
use crate::protocol::Protocol;

/// Everything that is generated, in memory.
pub struct Emitted {
    /// The files.
    pub files: FileSet,
    /// The documentation that each revision lacks, by key.
    pub undocumented: BTreeMap<String, BTreeSet<String>>,
}

/// Emits the crates of all revisions; `crates` is the directory of the hand-written ones, as their manifests name it.
///
/// # Errors
/// Functions that rules call and nobody wrote, and the generator's own limits.
pub fn emit_protocol(protocol: &Protocol<PlannedRevision>, crates: &str) -> Result<Emitted, GenerateError> {
    let found = protocol.revisions.iter().flat_map(wrong_functions);
    Problems::check(found.collect())?;
    let templates = Templates::new()?;
    let shared_docs = Docs::of(&protocol.shared.docs).map_err(Problems::from)?;
    let mut files = FileSet::default();
    let mut undocumented = BTreeMap::new();
    let (mut items, mut problems) = (Vec::new(), Vec::new());
    for PlannedRevision {
        entry, model, schema, ..
    } in &protocol.revisions
    {
        let link = |definition: &str| protocol.manifest.link(entry, definition);
        let document = &protocol.shared.docs_of_revisions[&model.revision];
        let own_docs = Docs::of(document).map_err(Problems::from)?;
        let input = EmitInput {
            model,
            schema,
            sha256: &entry.sha256,
            docs: &shared_docs.with(&own_docs),
            link: &link,
            crates,
            manifest: &protocol.manifest,
        };
        let emitted = emit_crate(&input, &templates)?;
        problems.extend(shared_docs.needless(&own_docs, document, &emitted.documented));
        for (path, contents) in emitted.files {
            files.insert(Path::new(&crate_name(&model.revision)).join(path), contents)?;
        }
        undocumented.insert(model.revision.clone(), emitted.undocumented);
        items.push(emitted.items);
    }
    Problems::check(problems)?;
    if let Some(hub) = protocol.manifest.hub() {
        let revisions = protocol.revisions.iter().zip(&items).map(|(revision, items)| {
            let functions = revision.functions.1.as_deref();
            RevisionInput::new(
                &revision.model,
                items,
                functions,
                &revision.facts,
                revision.entry.released,
                protocol.manifest.specification(&revision.entry),
            )
        });
        let input = AdaptersInput {
            revisions: &revisions.collect::<Vec<_>>(),
            plans: &protocol.plans().cloned().collect::<Vec<Plan>>(),
            hub: hub.as_str(),
            crates,
            manifest: &protocol.manifest,
        };
        for (path, contents) in emit_adapters(&input, &AdapterTemplates::new()?)? {
            files.insert(Path::new(ADAPTERS).join(path), contents)?;
        }
    }
    Ok(Emitted { files, undocumented })
}

/// What is wrong with the hand-written functions of a revision's rules.
fn wrong_functions(revision: &PlannedRevision) -> Vec<Problem> {
    let (file, text) = &revision.functions;
    match text.as_deref().map(callable_functions).unwrap_or(Ok(BTreeSet::new())) {
        Ok(functions) => revision.rules.calls_of_others(&functions),
        Err((place, what)) => {
            let problem = Problem::new(file, what).at(place);
            vec![problem.help("the file becomes a module of the adapters, so it must be Rust")]
        }
    }
}
