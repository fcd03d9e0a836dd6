//! How generated code names what a revision has.

use proc_macro2::TokenStream;
use quote::quote;

use super::input::RevisionInput;
use crate::emit::tokens::ident;
use crate::model::{TypeKind, TypeRef, Union};

/// A type as a path from the module that `revision` names.
pub(super) fn qualified(revision: &str, ty: &TypeRef) -> TokenStream {
    let inner = |ty: &TypeRef| qualified(revision, ty);
    match ty {
        TypeRef::Named(name) => {
            let (revision, name) = (ident(revision), ident(name));
            quote!(#revision::#name)
        }
        TypeRef::RequestId => quote!(mcp_wire::RequestId),
        TypeRef::String => quote!(String),
        TypeRef::Boolean => quote!(bool),
        TypeRef::Integer => quote!(i64),
        TypeRef::Number => quote!(mcp_wire::Number),
        TypeRef::Null => quote!(()),
        TypeRef::Any => quote!(mcp_wire::RawJson),
        TypeRef::RawObject => quote!(mcp_wire::RawObject),
        TypeRef::List(ty) => {
            let ty = inner(ty);
            quote!(Vec<#ty>)
        }
        TypeRef::Map(ty) => {
            let ty = inner(ty);
            quote!(mcp_wire::Map<#ty>)
        }
        TypeRef::Nullable(ty) => {
            let ty = inner(ty);
            quote!(Option<#ty>)
        }
    }
}

pub(super) fn union_of<'i>(revision: &'i RevisionInput<'_>, ty: &TypeRef) -> Option<&'i Union> {
    match revision
        .model
        .types
        .get(revision.model.resolve(ty).named()?)
        .map(|ty| &ty.kind)
    {
        Some(TypeKind::Union(union)) => Some(union),
        _ => None,
    }
}

pub(super) fn results_of<'i>(revision: &'i RevisionInput<'_>, ty: &TypeRef) -> Option<&'i [(String, Vec<TypeRef>)]> {
    match revision.model.types.get(ty.named()?).map(|ty| &ty.kind) {
        Some(TypeKind::Results(results)) => Some(results),
        _ => None,
    }
}
