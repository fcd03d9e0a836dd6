//! The input from which the crate and the documents of a revision are emitted.

use std::sync::Arc;

use serde_json::Value;

use super::docs::docs_of_all;
use super::names::{STANDARD, library_name, module_name};
use crate::load::{Docs, Extension, Manifest};
use crate::model::{Model, ModelledRevision, Type};
use crate::protocol::Protocol;

/// A revision or an extension, with all that its crate and its documents are emitted from.
pub(crate) struct EmitInput<'i> {
    pub(crate) revision: &'i ModelledRevision,
    pub(crate) docs: Arc<Docs>,
    /// The directory of the hand-written crates, as the crate's manifest names it; empty if that depends on the
    /// published ones.
    pub(crate) crates: &'i str,
    pub(crate) protocol: &'i Protocol,
}

impl<'i> EmitInput<'i> {
    /// Returns the input for each revision and extension.
    pub(crate) fn all(protocol: &'i Protocol, crates: &'i str) -> impl Iterator<Item = Self> {
        let documented = protocol.all().zip(docs_of_all(protocol));
        documented.map(move |(revision, docs)| Self {
            revision,
            docs,
            crates,
            protocol,
        })
    }

    pub(crate) fn manifest(&self) -> &'i Manifest {
        &self.protocol.manifest
    }

    pub(crate) fn model(&self) -> &'i Model {
        &self.revision.model
    }

    /// Returns the manifest's entry, if it is an extension.
    pub(crate) fn extension(&self) -> Option<&'i Extension> {
        self.revision.documents.extension.as_ref()
    }

    /// Returns the name of the crate of the revision that it extends, if it is an extension.
    pub(crate) fn core_crate(&self) -> Option<String> {
        let of = &self.extension()?.of;
        Some(self.manifest().family().types_crate(of.as_str()))
    }

    /// Returns the schema by which the crate validates.
    pub(crate) fn schema(&self) -> &'i Value {
        &self.revision.schema
    }

    /// Returns the address of a definition in the specification; for the empty name, that of all definitions.
    pub(crate) fn link(&self, definition: &str) -> String {
        let is_extension = self.extension().is_some();
        self.manifest().link(self.revision.entry(), definition, is_extension)
    }

    /// Returns the address in the specification of the definition that a pointer is in.
    pub(crate) fn link_at(&self, pointer: &str) -> String {
        self.link(pointer.split('/').nth(2).unwrap_or_default())
    }

    pub(crate) fn crate_name(&self) -> String {
        match self.extension() {
            Some(extension) => self.manifest().family().extension_crate(&extension.name),
            None => self.manifest().family().types_crate(&self.model().revision),
        }
    }

    /// Returns the crate's module for the revision, if the crate has the other revisions too.
    pub(crate) fn module(&self) -> Option<String> {
        let is_module = self.manifest().family().single_crate;
        is_module.then(|| module_name(&self.model().revision))
    }

    /// Returns the path from which the revision's types are exported: the root of the crate, or a module there.
    pub(crate) fn root(&self) -> String {
        let module = self.module().map(|module| format!("crate::{module}"));
        module.unwrap_or_else(|| "crate".to_owned())
    }

    /// Returns the path of the root that exports a type: the revision's own, or that of the revision which the
    /// extension extends.
    pub(crate) fn root_of(&self, ty: &Type) -> String {
        let core = self.core_crate().filter(|_| ty.imported);
        core.map_or_else(|| self.root(), |core| library_name(&core))
    }

    /// Returns the path of a type from outside its module.
    pub(crate) fn path_of(&self, name: &str, ty: &Type) -> String {
        let root = self.root_of(ty);
        match STANDARD.contains(&name) {
            true => format!("{root}::{}::{name}", ty.module),
            false => format!("{root}::{name}"),
        }
    }
}
