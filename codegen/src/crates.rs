//! The files of all crates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::emit::{
    AdaptersInput, Docs, EmitInput, EmittedCrate, RevisionInput, Templates, docs_of_revisions, emit_adapters,
    emit_crate, table, typescript,
};
use crate::error::GenerateError;
use crate::files::FileSet;
use crate::model::ModelledExtension;
use crate::problem::{Problem, Problems};
use crate::protocol::Protocol;

/// Everything that is generated, in memory.
pub(crate) struct Emitted {
    /// The files.
    pub(crate) files: FileSet,
    /// The documentation that each revision lacks, by key.
    pub(crate) undocumented: BTreeMap<String, BTreeSet<String>>,
}

/// What the crates of all revisions share.
struct Emission<'p> {
    protocol: &'p Protocol,
    templates: Templates,
    shared_docs: Docs,
    /// The documentation of each revision.
    docs: Vec<Docs>,
    crates: &'p str,
}

impl<'p> Emission<'p> {
    fn new(protocol: &'p Protocol, crates: &'p str) -> Result<Self, GenerateError> {
        Ok(Self {
            protocol,
            templates: Templates::new()?,
            shared_docs: Docs::of(&protocol.shared.docs).map_err(Problems::from)?,
            docs: docs_of_revisions(protocol)?,
            crates,
        })
    }

    /// Emits something from a revision.
    fn emit<T>(&self, index: usize, emit: impl FnOnce(&EmitInput<'_>) -> T) -> T {
        let revision = &self.protocol.revisions[index];
        let (entry, manifest) = (&revision.entry, &self.protocol.manifest);
        emit(&EmitInput {
            model: &revision.model,
            schema: &revision.schema,
            sha256: &entry.sha256,
            docs: &self.docs[index],
            link: &|definition| manifest.link(entry, definition),
            crates: self.crates,
            manifest,
            extension: None,
        })
    }

    /// Emits the crate of a revision, and finds its documentation that no type has.
    fn revision(&self, index: usize) -> Result<(EmittedCrate, Vec<Problem>), GenerateError> {
        let document = &self.protocol.revisions[index].docs;
        let own_docs = Docs::of(document).map_err(Problems::from)?;
        let emitted = self.emit(index, |input| emit_crate(input, &self.templates))?;
        let problems = self.shared_docs.needless(&own_docs, document, &emitted.documented);
        Ok((emitted, problems))
    }

    /// Emits the crate of an extension, and finds its documentation that no type has.
    fn extension(&self, extension: &ModelledExtension) -> Result<(EmittedCrate, Vec<Problem>), GenerateError> {
        let (entry, manifest) = (&extension.entry, &self.protocol.manifest);
        let link = |definition: &str| manifest.extension_link(entry, definition);
        let own_docs = Docs::of(&extension.docs).map_err(Problems::from)?;
        let input = EmitInput {
            model: &extension.model,
            schema: &extension.schema,
            sha256: &entry.sha256,
            docs: &self.shared_docs.with(&own_docs),
            link: &link,
            crates: self.crates,
            manifest,
            extension: Some(extension),
        };
        let emitted = emit_crate(&input, &self.templates)?;
        let problems = self
            .shared_docs
            .needless(&own_docs, &extension.docs, &emitted.documented);
        Ok((emitted, problems))
    }
}

/// Checks that the crate of a revision can be emitted.
///
/// # Errors
/// Its documentation that no type has, and the generator's own limits.
pub(crate) fn check_emission(protocol: &Protocol, revision: &str) -> Result<(), GenerateError> {
    let emission = Emission::new(protocol, "")?;
    let mut revisions = protocol.revisions.iter();
    let problems = match revisions.position(|known| known.model.revision == revision) {
        Some(index) => emission.revision(index)?.1,
        None => Vec::new(),
    };
    Ok(Problems::check(problems)?)
}

/// Emits the crate of an extension, which depends on the published crates.
///
/// # Errors
/// Its documentation that no type has, and the generator's own limits.
pub(crate) fn emit_extension(protocol: &Protocol, name: &str) -> Result<FileSet, GenerateError> {
    let emission = Emission::new(protocol, "")?;
    let mut files = FileSet::default();
    for extension in protocol.extensions.iter().filter(|known| known.name == name) {
        let (emitted, problems) = emission.extension(extension)?;
        Problems::check(problems)?;
        for (path, contents) in emitted.files {
            files.insert(
                Path::new(&protocol.manifest.family().extension_crate(name)).join(path),
                contents,
            )?;
        }
    }
    Ok(files)
}

/// Emits the crates of all revisions and extensions; `crates` is the directory of the hand-written ones, as their manifests name it.
///
/// # Errors
/// Documentation that no type has, and the generator's own limits.
pub(crate) fn emit_protocol(protocol: &Protocol, crates: &str) -> Result<Emitted, GenerateError> {
    let emission = Emission::new(protocol, crates)?;
    let family = protocol.manifest.family();
    let mut files = FileSet::default();
    let mut undocumented = BTreeMap::new();
    let (mut items, mut problems) = (Vec::new(), Vec::new());
    let mut documented = BTreeSet::new();
    for (index, revision) in protocol.revisions.iter().enumerate() {
        let name = &revision.model.revision;
        let (emitted, found) = emission.revision(index)?;
        problems.extend(found);
        for (path, contents) in emitted.files {
            files.insert(Path::new(&family.types_crate(name)).join(path), contents)?;
        }
        undocumented.insert(name.clone(), emitted.undocumented);
        documented.extend(emitted.documented);
        items.push(emitted.items);
    }
    for extension in &protocol.extensions {
        let (emitted, found) = emission.extension(extension)?;
        problems.extend(found);
        for (path, contents) in emitted.files {
            files.insert(Path::new(&family.extension_crate(&extension.name)).join(path), contents)?;
        }
        undocumented.insert(extension.id.clone(), emitted.undocumented);
        documented.extend(emitted.documented);
    }
    problems.extend(emission.shared_docs.unused(&protocol.shared.docs, &documented));
    Problems::check(problems)?;
    if let Some(hub) = protocol.manifest.hub() {
        let tables = revision_tables(protocol);
        let revisions = protocol.revisions.iter().zip(items.iter().zip(&tables));
        let revisions = revisions.map(|(revision, (items, table))| RevisionInput {
            model: &revision.model,
            items,
            schema: &revision.schema,
            table,
            is_draft: protocol.manifest.is_draft(&revision.model.revision),
        });
        let input = AdaptersInput {
            revisions: &revisions.collect::<Vec<_>>(),
            plans: &protocol.plans,
            hub: hub.as_str(),
            crates,
            manifest: &protocol.manifest,
        };
        for (path, contents) in emit_adapters(&input, &emission.templates)? {
            files.insert(Path::new(&family.adapters_crate()).join(path), contents)?;
        }
    }
    Ok(Emitted { files, undocumented })
}

/// The definitions of the revision at this position, in TypeScript.
///
/// # Errors
/// Documentation of another shape.
pub(crate) fn typescript_of(protocol: &Protocol, revision: usize) -> Result<String, GenerateError> {
    Ok(Emission::new(protocol, "")?.emit(revision, typescript::definitions))
}

/// The tables of all revisions.
pub(crate) fn revision_tables(protocol: &Protocol) -> Vec<String> {
    let revisions = protocol.revisions.iter().enumerate();
    let tables = revisions.map(|(position, revision)| {
        let specification = protocol.manifest.specification(&revision.entry);
        table(revision, protocol.before(position), &specification)
    });
    tables.collect()
}
