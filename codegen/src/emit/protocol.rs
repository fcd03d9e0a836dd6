//! The files of all crates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::input::EmitInput;
use super::tables::table;
use super::{
    ADAPTERS, AdapterTemplates, AdaptersInput, Docs, RevisionInput, Templates, crate_name, emit_adapters, emit_crate,
};
use crate::adapt::{Plan, PlannedRevision};
use crate::error::GenerateError;
use crate::files::FileSet;
use crate::problem::Problems;
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
/// Documentation that no type has, and the generator's own limits.
pub fn emit_protocol(protocol: &Protocol<PlannedRevision>, crates: &str) -> Result<Emitted, GenerateError> {
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
        let tables = revision_tables(protocol);
        let revisions = protocol.revisions.iter().zip(items.iter().zip(&tables));
        let revisions = revisions
            .map(|(revision, (items, table))| RevisionInput::new(&revision.model, items, (&revision.schema, table)));
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

/// The tables of all revisions.
pub fn revision_tables(protocol: &Protocol<PlannedRevision>) -> Vec<String> {
    let before = std::iter::once(None).chain(protocol.revisions.iter().map(Some));
    let revisions = protocol.revisions.iter().zip(before);
    let tables = revisions.map(|(revision, before)| {
        let specification = protocol.manifest.specification(&revision.entry);
        table(revision, before, &specification)
    });
    tables.collect()
}
