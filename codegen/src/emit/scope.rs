//! Types in code, and the meaning of names in a generated file.

use std::collections::{BTreeMap, BTreeSet};

use super::Emitter;
use crate::model::{Member, TypeKind, TypeRef};

/// Names of the standard library's prelude that generated code writes without a path, unless a type shadows them.
const PRELUDE: [(&str, &str); 5] = [
    ("Box", "::std::boxed::Box"),
    ("Into", "::std::convert::Into"),
    ("Option", "::std::option::Option"),
    ("String", "::std::string::String"),
    ("Vec", "::std::vec::Vec"),
];

/// The name of a crate's schema.
const SCHEMA: &str = "SCHEMA";

impl Emitter<'_> {
    /// Returns a type or trait of the prelude: its name, or its full path if the revision has a type of that name.
    pub(super) fn std(&self, name: &'static str) -> &'static str {
        let mut prelude = PRELUDE.iter();
        let path = prelude.find(|(short, _)| *short == name && self.input.model().types.contains_key(name));
        path.map_or(name, |(_, path)| path)
    }

    /// Returns an item of `mcp-wire`: its name, or its full path if the revision has a type of that name.
    pub(super) fn wire(&self, name: &str) -> String {
        if self.input.model().types.contains_key(name) {
            return format!("mcp_wire::{name}");
        }
        self.wire_names.borrow_mut().insert(name.to_owned());
        name.to_owned()
    }

    /// Returns a macro of `mcp-wire`, such as `object!`.
    pub(super) fn table<'n>(&self, name: &'n str) -> &'n str {
        self.wire_names
            .borrow_mut()
            .insert(name.trim_end_matches('!').to_owned());
        name
    }

    pub(super) fn schema(&self) -> &'static str {
        self.named(SCHEMA)
    }

    pub(super) fn named<'n>(&self, name: &'n str) -> &'n str {
        self.own_names.borrow_mut().insert(name.to_owned());
        name
    }

    /// Returns a type in code.
    pub(super) fn ty(&self, ty: &TypeRef) -> String {
        match ty {
            TypeRef::Named(name) => self.named(name).to_owned(),
            TypeRef::RequestId => self.wire("RequestId"),
            TypeRef::String => self.std("String").to_owned(),
            TypeRef::Boolean => "bool".to_owned(),
            TypeRef::Integer => "i64".to_owned(),
            TypeRef::Number => self.wire("Number"),
            TypeRef::Null => self.wire("Null"),
            TypeRef::Any => self.wire("RawJson"),
            TypeRef::RawObject => self.wire("RawObject"),
            TypeRef::List(inner) => format!("{}<{}>", self.std("Vec"), self.ty(inner)),
            TypeRef::Map(inner) => format!("{}<{}>", self.wire("Map"), self.ty(inner)),
            TypeRef::Nullable(inner) => self.optional(&self.ty(inner)),
        }
    }

    /// Returns a type, behind a pointer if `boxed`.
    pub(super) fn held(&self, ty: &TypeRef, boxed: bool) -> String {
        let plain = self.ty(ty);
        match boxed {
            true => format!("{}<{plain}>", self.std("Box")),
            false => plain,
        }
    }

    /// Returns a type that may be absent.
    pub(super) fn optional(&self, ty: &str) -> String {
        format!("{}<{ty}>", self.std("Option"))
    }

    /// Returns the type of a member's field.
    pub(super) fn field(&self, member: &Member) -> String {
        let held = self.held(&member.ty, member.is_boxed());
        if member.required { held } else { self.optional(&held) }
    }

    /// Returns the type of the argument from which a member's field is set, if possible by `Into`.
    pub(super) fn argument(&self, member: &Member) -> String {
        let (model, plain) = (self.input.model(), self.ty(&member.ty));
        let converts = match model.resolve(&member.ty) {
            TypeRef::String | TypeRef::Number | TypeRef::Any | TypeRef::RawObject | TypeRef::RequestId => true,
            TypeRef::Named(name) => matches!(model.kind(name), Some(TypeKind::Union(_) | TypeKind::Strings(_))),
            _ => false,
        };
        match converts && !member.is_boxed() {
            true => format!("impl {}<{plain}>", self.std("Into")),
            false => plain,
        }
    }

    /// Returns the imports of the current file and the types of the crate in them, and starts the next file. `defined` are
    /// the file's own types.
    pub(super) fn take_imports(&self, defined: impl Fn(&str) -> bool) -> (String, BTreeSet<String>) {
        let wire = std::mem::take(&mut *self.wire_names.borrow_mut());
        let mut own = std::mem::take(&mut *self.own_names.borrow_mut());
        own.retain(|name| !defined(name));
        let root = self.input.root();
        let mut by_source: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for name in &own {
            let ty = self.input.model().types.get(name);
            let path = ty.map_or_else(|| format!("{root}::{name}"), |ty| self.input.path_of(name, ty));
            let (source, _) = path.rsplit_once("::").unwrap_or_default();
            by_source.entry(source.to_owned()).or_default().insert(name.clone());
        }
        let from_root = by_source.remove(&root).unwrap_or_default();
        let is_own = |source: &String| source.starts_with("crate");
        let (inner, other): (Vec<_>, Vec<_>) = by_source.into_iter().partition(|(source, _)| is_own(source));
        let sources = other
            .into_iter()
            .chain([("mcp_wire".to_owned(), wire)])
            .chain(inner)
            .chain([(root, from_root)]);
        let imports = sources.map(|(source, names)| super::source::import(&source, &names));
        (imports.collect(), own)
    }
}
