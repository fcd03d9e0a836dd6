//! The files of all crates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::emit::{
    AdaptersInput, EmitInput, EmittedCrate, Templates, docs_of_revisions, emit_adapters, emit_crate, table, typescript,
};
use crate::error::GenerateError;
use crate::files::FileSet;
use crate::load::Docs;
use crate::model::{ModelledExtension, ModelledRevision};
use crate::problem::{Problem, Problems};
use crate::protocol::Protocol;

/// Everything that is generated, in memory.
pub(crate) struct Emitted {
    pub(crate) files: FileSet,
    /// The documentation that each revision lacks, by key.
    pub(crate) undocumented: BTreeMap<String, BTreeSet<String>>,
}

/// What the crates of all revisions share.
struct Emission<'p> {
    protocol: &'p Protocol,
    templates: Templates,
    docs: Vec<Docs>,
    crates: &'p str,
}

impl<'p> Emission<'p> {
    fn new(protocol: &'p Protocol, crates: &'p str) -> Result<Self, GenerateError> {
        Ok(Self {
            protocol,
            templates: Templates::new()?,
            docs: docs_of_revisions(protocol),
            crates,
        })
    }

    fn input<'i>(
        &'i self,
        revision: &'i ModelledRevision,
        extension: Option<&'i ModelledExtension>,
        docs: &'i Docs,
    ) -> EmitInput<'i> {
        EmitInput {
            revision,
            docs,
            crates: self.crates,
            manifest: &self.protocol.manifest,
            extension,
        }
    }

    /// Emits the crate of a revision, and finds its documentation that no type has.
    fn revision(&self, index: usize) -> Result<(EmittedCrate, Vec<Problem>), GenerateError> {
        self.crate_of(&self.protocol.revisions[index], None, &self.docs[index])
    }

    /// Emits the crate of an extension, and finds its documentation that no type has.
    fn extension(&self, extension: &ModelledExtension) -> Result<(EmittedCrate, Vec<Problem>), GenerateError> {
        let docs = self.protocol.docs.with(&extension.own.docs);
        self.crate_of(&extension.own, Some(extension), &docs)
    }

    fn crate_of(
        &self,
        revision: &ModelledRevision,
        extension: Option<&ModelledExtension>,
        docs: &Docs,
    ) -> Result<(EmittedCrate, Vec<Problem>), GenerateError> {
        let emitted = emit_crate(&self.input(revision, extension, docs), &self.templates)?;
        let problems = self.protocol.docs.needless(&revision.docs, &emitted.documented);
        Ok((emitted, problems))
    }
}

/// Checks that the crate of a revision can be emitted.
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
pub(crate) fn emit_protocol(protocol: &Protocol, crates: &str) -> Result<Emitted, GenerateError> {
    let emission = Emission::new(protocol, crates)?;
    let family = protocol.manifest.family();
    let mut files = FileSet::default();
    let mut undocumented = BTreeMap::new();
    let (mut items, mut problems) = (Vec::new(), Vec::new());
    let mut documented = BTreeSet::new();
    let revisions = protocol.revisions.iter().enumerate().map(|(index, revision)| {
        let name = &revision.model.revision;
        (family.types_crate(name), name, emission.revision(index))
    });
    let extensions = protocol.extensions.iter().map(|extension| {
        let name = family.extension_crate(&extension.name);
        (name, &extension.declared.id, emission.extension(extension))
    });
    for (name, key, emitted) in revisions.chain(extensions) {
        let (emitted, found) = emitted?;
        problems.extend(found);
        for (path, contents) in emitted.files {
            files.insert(Path::new(&name).join(path), contents)?;
        }
        undocumented.insert(key.clone(), emitted.undocumented);
        documented.extend(emitted.documented);
        items.push(emitted.items);
    }
    problems.extend(protocol.docs.unused(&documented));
    Problems::check(problems)?;
    let hub = protocol.manifest.hub();
    let hub = hub.and_then(|hub| {
        protocol
            .revisions
            .iter()
            .position(|known| known.entry().revision == *hub)
    });
    if let Some(hub) = hub {
        let input = AdaptersInput {
            protocol,
            items: &items,
            tables: &revision_tables(protocol),
            hub,
            crates,
        };
        for (path, contents) in emit_adapters(&input, &emission.templates)? {
            files.insert(Path::new(&family.adapters_crate()).join(path), contents)?;
        }
    }
    Ok(Emitted { files, undocumented })
}

/// The definitions of the revision at this position, in TypeScript.
pub(crate) fn typescript_of(protocol: &Protocol, revision: usize) -> Result<String, GenerateError> {
    let emission = Emission::new(protocol, "")?;
    let docs = &emission.docs[revision];
    let input = emission.input(&protocol.revisions[revision], None, docs);
    Ok(typescript::definitions(&input))
}

/// The tables of all revisions.
pub(crate) fn revision_tables(protocol: &Protocol) -> Vec<String> {
    let revisions = protocol.revisions.iter().enumerate();
    let tables = revisions.map(|(position, revision)| {
        let specification = protocol.manifest.specification(revision.entry());
        table(revision, protocol.before(position), &specification)
    });
    tables.collect()
}
