//! Types as tokens, and the meaning of names in a generated file.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::quote;

use super::input::EmitInput;
use super::names::ident;
use crate::model::{Member, Model, Type, TypeKind, TypeRef};

/// Names of the standard library's prelude that generated code writes without a path, unless a type shadows them.
const PRELUDE: [(&str, &str); 6] = [
    ("Box", "::std::boxed::Box"),
    ("From", "::std::convert::From"),
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
    pub(crate) fn std(&self, name: &str) -> TokenStream {
        let path = PRELUDE
            .iter()
            .find(|(short, _)| *short == name && self.types.contains_key(*short));
        match path {
            Some((_, path)) => path.parse().unwrap_or_default(),
            None => {
                let name = ident(name);
                quote!(#name)
            }
        }
    }

    /// Returns an item of `mcp-wire`: its name, or its full path if the revision has a type of that name.
    pub(crate) fn wire(&self, name: &str) -> TokenStream {
        let rust = ident(name);
        if self.types.contains_key(name) {
            return quote!(mcp_wire::#rust);
        }
        self.wire.borrow_mut().insert(name.to_owned());
        quote!(#rust)
    }

    /// Returns a macro of `mcp-wire`, such as `object!`.
    pub(crate) fn table(&self, name: &str) -> String {
        self.wire.borrow_mut().insert(name.trim_end_matches('!').to_owned());
        name.to_owned()
    }

    pub(crate) fn schema(&self) -> &'static str {
        self.own.borrow_mut().insert(SCHEMA.to_owned());
        SCHEMA
    }

    pub(crate) fn named(&self, name: &str) -> TokenStream {
        self.own.borrow_mut().insert(name.to_owned());
        let name = ident(name);
        quote!(#name)
    }

    /// Returns a type in code.
    pub(crate) fn ty(&self, ty: &TypeRef) -> TokenStream {
        match ty {
            TypeRef::Named(name) => self.named(name),
            TypeRef::RequestId => self.wire("RequestId"),
            TypeRef::String => self.std("String"),
            TypeRef::Boolean => quote!(bool),
            TypeRef::Integer => quote!(i64),
            TypeRef::Number => self.wire("Number"),
            TypeRef::Null => self.wire("Null"),
            TypeRef::Any => self.wire("RawJson"),
            TypeRef::RawObject => self.wire("RawObject"),
            TypeRef::List(inner) => {
                let (vec, inner) = (self.std("Vec"), self.ty(inner));
                quote!(#vec<#inner>)
            }
            TypeRef::Map(inner) => {
                let (map, inner) = (self.wire("Map"), self.ty(inner));
                quote!(#map<#inner>)
            }
            TypeRef::Nullable(inner) => self.optional(&self.ty(inner)),
        }
    }

    /// Returns a type, behind a pointer if `boxed`.
    pub(crate) fn held(&self, ty: &TypeRef, boxed: bool) -> TokenStream {
        let plain = self.ty(ty);
        if !boxed {
            return plain;
        }
        let pointer = self.std("Box");
        quote!(#pointer<#plain>)
    }

    /// Returns a type that may be absent.
    pub(crate) fn optional(&self, ty: &TokenStream) -> TokenStream {
        let option = self.std("Option");
        quote!(#option<#ty>)
    }

    /// Returns the type of a member's field.
    pub(crate) fn field(&self, member: &Member) -> TokenStream {
        let held = self.held(&member.ty, member.boxed);
        if member.required { held } else { self.optional(&held) }
    }

    /// Returns the type of the argument from which a member's field is set, if possible by `Into`.
    pub(crate) fn argument(&self, model: &Model, member: &Member) -> TokenStream {
        let plain = self.ty(&member.ty);
        let converts = match model.resolve(&member.ty) {
            TypeRef::String | TypeRef::Number | TypeRef::Any | TypeRef::RawObject | TypeRef::RequestId => true,
            TypeRef::Named(name) => matches!(model.kind(name), Some(TypeKind::Union(_) | TypeKind::Strings { .. })),
            _ => false,
        };
        if converts && !member.boxed {
            let into = self.std("Into");
            quote!(impl #into<#plain>)
        } else {
            plain
        }
    }

    /// Returns the types of other modules that the current file uses.
    pub(crate) fn imported(&self, defined: impl Fn(&str) -> bool) -> Vec<String> {
        let own = self.own.borrow();
        own.iter().filter(|name| !defined(name)).cloned().collect()
    }

    /// Returns the imports of the current file, and starts the next one. `defined` are the file's own types.
    pub(crate) fn take_imports(&self, defined: impl Fn(&str) -> bool) -> String {
        let wire = std::mem::take(&mut *self.wire.borrow_mut());
        let mut own = std::mem::take(&mut *self.own.borrow_mut());
        own.retain(|name| !defined(name));
        let mut by_source: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for name in own {
            let source = self.types.get(&name).map_or(self.root.as_str(), String::as_str);
            by_source.entry(source).or_default().insert(name);
        }
        let root = by_source.remove(self.root.as_str()).unwrap_or_default();
        let is_own = |source: &str| source.starts_with("crate");
        let (inner, other): (Vec<_>, Vec<_>) = by_source.into_iter().partition(|(source, _)| is_own(source));
        let sources = other
            .into_iter()
            .chain([("mcp_wire", wire)])
            .chain(inner)
            .chain([(self.root.as_str(), root)]);
        sources
            .map(|(source, names)| super::source::import(source, &names))
            .collect()
    }
}

/// Returns a type as text, with the usual spaces.
pub(crate) fn text(ty: &TokenStream) -> String {
    let text = ty.to_string().replace(' ', "");
    match text.strip_prefix("impl") {
        Some(bound) if text.contains("Into<") => format!("impl {bound}"),
        _ => text,
    }
}
