//! Types as tokens, and which names mean what in a generated file.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::model::{Model, TypeKind, TypeRef};

/// Names of the standard library's prelude that generated code writes without a path, where no type shadows them.
const PRELUDE: [(&str, &str); 6] = [
    ("Box", "::std::boxed::Box"),
    ("From", "::std::convert::From"),
    ("Into", "::std::convert::Into"),
    ("Option", "::std::option::Option"),
    ("String", "::std::string::String"),
    ("Vec", "::std::vec::Vec"),
];

/// What names mean in the files of one crate.
#[derive(Debug)]
pub struct Scope {
    shadowed: BTreeSet<&'static str>,
}

impl Scope {
    /// The scope of a model's crate.
    pub fn new(model: &Model) -> Self {
        let names = PRELUDE.iter().map(|(name, _)| *name);
        Self {
            shadowed: names.filter(|name| model.types.contains_key(*name)).collect(),
        }
    }

    /// A type or trait of the prelude: by its name, or by its whole path where the revision has a type of that name.
    pub fn std(&self, name: &str) -> TokenStream {
        let path = PRELUDE
            .iter()
            .find(|(short, _)| *short == name && self.shadowed.contains(short));
        match path {
            Some((_, path)) => path.parse().unwrap_or_default(),
            None => {
                let name = ident(name);
                quote!(#name)
            }
        }
    }

    /// A type as it is written.
    pub fn ty(&self, ty: &TypeRef) -> TokenStream {
        match ty {
            TypeRef::Named(name) => {
                let name = ident(name);
                quote!(#name)
            }
            TypeRef::RequestId => quote!(mcp_wire::RequestId),
            TypeRef::String => self.std("String"),
            TypeRef::Boolean => quote!(bool),
            TypeRef::Integer => quote!(i64),
            TypeRef::Number => quote!(mcp_wire::Number),
            TypeRef::Null => quote!(()),
            TypeRef::Any => quote!(mcp_wire::OpenJson),
            TypeRef::OpenObject => quote!(mcp_wire::OpenObject),
            TypeRef::List(inner) => {
                let (vec, inner) = (self.std("Vec"), self.ty(inner));
                quote!(#vec<#inner>)
            }
            TypeRef::Map(inner) => {
                let inner = self.ty(inner);
                quote!(mcp_wire::Map<#inner>)
            }
            TypeRef::Nullable(inner) => self.optional(&self.ty(inner)),
        }
    }

    /// A type behind a pointer where it must be.
    pub fn held(&self, ty: &TypeRef, boxed: bool) -> TokenStream {
        let plain = self.ty(ty);
        if !boxed {
            return plain;
        }
        let pointer = self.std("Box");
        quote!(#pointer<#plain>)
    }

    /// A type that may be absent.
    pub fn optional(&self, ty: &TokenStream) -> TokenStream {
        let option = self.std("Option");
        quote!(#option<#ty>)
    }

    /// A parameter that a value of this type is made from, and the expression that makes it.
    pub fn parameter(&self, model: &Model, name: &Ident, ty: &TypeRef, boxed: bool) -> (TokenStream, TokenStream) {
        let plain = self.ty(ty);
        let converts = match model.resolve(ty) {
            TypeRef::String | TypeRef::Number | TypeRef::Any | TypeRef::OpenObject | TypeRef::RequestId => true,
            TypeRef::Named(name) => model
                .types
                .get(name)
                .is_some_and(|ty| matches!(ty.kind, TypeKind::Union(_) | TypeKind::Strings { .. })),
            _ => false,
        };
        let (parameter, value) = if converts {
            let into = self.std("Into");
            (quote!(#name: impl #into<#plain>), quote!(#name.into()))
        } else {
            (quote!(#name: #plain), quote!(#name))
        };
        if boxed {
            let pointer = self.std("Box");
            return (parameter, quote!(#pointer::new(#value)));
        }
        (parameter, value)
    }

    /// The types of other modules that a module's types name.
    pub fn imports(&self, model: &Model, module: &str) -> Option<TokenStream> {
        let in_module = model.types.values().filter(|ty| ty.module == module);
        let mut names = BTreeSet::new();
        for ty in in_module {
            names.extend(mentioned(model, &ty.kind));
        }
        names.retain(|name| model.types.get(name).is_some_and(|ty| ty.module != module));
        if names.is_empty() {
            return None;
        }
        let names = names.iter().map(|name| ident(name));
        Some(quote!(use crate::{#(#names),*};))
    }
}

/// The types that the code for a type names.
fn mentioned(model: &Model, kind: &TypeKind) -> BTreeSet<String> {
    let named = |ty: &TypeRef| ty.named().map(str::to_owned);
    match kind {
        TypeKind::Struct(object) => {
            let mut names: BTreeSet<String> = object.members.iter().filter_map(|member| named(&member.ty)).collect();
            let own = model
                .methods
                .iter()
                .filter(|method| matches!(model.types.get(&method.ty), Some(ty) if std::ptr::eq(&ty.kind, kind)));
            names.extend(own.filter_map(|method| method.results.first().and_then(named)));
            names
        }
        TypeKind::Union(union) => union.variants.iter().filter_map(|variant| named(&variant.ty)).collect(),
        TypeKind::Alias(target) => named(target).into_iter().collect(),
        TypeKind::Methods(variants) => variants.iter().map(|(_, ty)| ty.clone()).collect(),
        TypeKind::Results(variants) => variants
            .iter()
            .flat_map(|(_, types)| types.iter().filter_map(named))
            .collect(),
        TypeKind::Strings { .. } => BTreeSet::new(),
    }
}

/// An identifier; a keyword becomes a raw one.
pub fn ident(name: &str) -> Ident {
    syn::parse_str(name).unwrap_or_else(|_| Ident::new_raw(name, Span::call_site()))
}
