//! Types in code, and the meaning of names in a generated file.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::input::EmitInput;
use crate::model::{Member, Model, Type, TypeKind, TypeRef};

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

/// The meaning of names in the files of a crate, and the names that the current file has to import.
#[derive(Debug)]
pub(crate) struct Scope {
    /// The root of the revision that is emitted.
    root: String,
    /// The path that each type is imported from.
    types: BTreeMap<String, String>,
    /// The names of `mcp-wire` that the current file uses.
    wire: RefCell<BTreeSet<String>>,
    /// The names of the crate's own types that the current file uses.
    own: RefCell<BTreeSet<String>>,
}

impl Scope {
    pub(crate) fn new(input: &EmitInput<'_>) -> Self {
        let source = |(name, ty): (&String, &Type)| {
            let path = input.path_of(name, ty);
            let (source, _) = path.rsplit_once("::").unwrap_or_default();
            (name.clone(), source.to_owned())
        };
        Self {
            root: input.root(),
            types: input.model().types.iter().map(source).collect(),
            wire: RefCell::default(),
            own: RefCell::default(),
        }
    }

    /// Returns a type or trait of the prelude: its name, or its full path if the revision has a type of that name.
    pub(crate) fn std(&self, name: &'static str) -> &'static str {
        let mut prelude = PRELUDE.iter();
        let path = prelude.find(|(short, _)| *short == name && self.types.contains_key(name));
        path.map_or(name, |(_, path)| path)
    }

    /// Returns an item of `mcp-wire`: its name, or its full path if the revision has a type of that name.
    pub(crate) fn wire(&self, name: &str) -> String {
        if self.types.contains_key(name) {
            return format!("mcp_wire::{name}");
        }
        self.wire.borrow_mut().insert(name.to_owned());
        name.to_owned()
    }

    /// Returns a macro of `mcp-wire`, such as `object!`.
    pub(crate) fn table<'n>(&self, name: &'n str) -> &'n str {
        self.wire.borrow_mut().insert(name.trim_end_matches('!').to_owned());
        name
    }

    pub(crate) fn schema(&self) -> &'static str {
        self.named(SCHEMA)
    }

    pub(crate) fn named<'n>(&self, name: &'n str) -> &'n str {
        self.own.borrow_mut().insert(name.to_owned());
        name
    }

    /// Returns a type in code.
    pub(crate) fn ty(&self, ty: &TypeRef) -> String {
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
    pub(crate) fn held(&self, ty: &TypeRef, boxed: bool) -> String {
        let plain = self.ty(ty);
        match boxed {
            true => format!("{}<{plain}>", self.std("Box")),
            false => plain,
        }
    }

    /// Returns a type that may be absent.
    pub(crate) fn optional(&self, ty: &str) -> String {
        format!("{}<{ty}>", self.std("Option"))
    }

    /// Returns the type of a member's field.
    pub(crate) fn field(&self, member: &Member) -> String {
        let held = self.held(&member.ty, member.boxed);
        if member.required { held } else { self.optional(&held) }
    }

    /// Returns the type of the argument from which a member's field is set, if possible by `Into`.
    pub(crate) fn argument(&self, model: &Model, member: &Member) -> String {
        let plain = self.ty(&member.ty);
        let converts = match model.resolve(&member.ty) {
            TypeRef::String | TypeRef::Number | TypeRef::Any | TypeRef::RawObject | TypeRef::RequestId => true,
            TypeRef::Named(name) => matches!(model.kind(name), Some(TypeKind::Union(_) | TypeKind::Strings { .. })),
            _ => false,
        };
        match converts && !member.boxed {
            true => format!("impl {}<{plain}>", self.std("Into")),
            false => plain,
        }
    }

    /// Returns the imports of the current file and the types of the crate in them, and starts the next file. `defined` are
    /// the file's own types.
    pub(crate) fn take_imports(&self, defined: impl Fn(&str) -> bool) -> (String, BTreeSet<String>) {
        let wire = std::mem::take(&mut *self.wire.borrow_mut());
        let mut own = std::mem::take(&mut *self.own.borrow_mut());
        own.retain(|name| !defined(name));
        let mut by_source: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for name in &own {
            let source = self.types.get(name).map_or(self.root.as_str(), String::as_str);
            by_source.entry(source).or_default().insert(name.clone());
        }
        let root = by_source.remove(self.root.as_str()).unwrap_or_default();
        let is_own = |source: &str| source.starts_with("crate");
        let (inner, other): (Vec<_>, Vec<_>) = by_source.into_iter().partition(|(source, _)| is_own(source));
        let sources = other
            .into_iter()
            .chain([("mcp_wire", wire)])
            .chain(inner)
            .chain([(self.root.as_str(), root)]);
        let imports = sources.map(|(source, names)| super::source::import(source, &names));
        (imports.collect(), own)
    }
}
