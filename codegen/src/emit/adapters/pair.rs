//! A pair of revisions, and how generated code names what they have.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::input::{AdaptersInput, RevisionInput};
use crate::adapt::{Plan, Refusal};
use crate::emit::tokens::ident;
use crate::model::{TypeKind, TypeRef, Union};

/// What the conversions of a pair are emitted from.
pub(super) struct Pair<'i> {
    pub(super) plan: &'i Plan,
    pub(super) from: &'i RevisionInput<'i>,
    pub(super) to: &'i RevisionInput<'i>,
}

/// An expression that makes a refusal.
pub(super) fn refuse(refusal: &Refusal) -> TokenStream {
    let code = proc_macro2::Literal::i64_unsuffixed(refusal.code);
    let (because, rule) = (&refusal.because, &refusal.rule);
    quote!(Unrepresentable::new(#code, #because, #rule))
}

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
        TypeRef::Any => quote!(mcp_wire::OpenJson),
        TypeRef::OpenObject => quote!(mcp_wire::OpenObject),
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

pub(super) fn methods_of<'i>(revision: &'i RevisionInput<'_>, ty: &TypeRef) -> Option<&'i [(String, String)]> {
    match revision.model.types.get(ty.named()?).map(|ty| &ty.kind) {
        Some(TypeKind::Methods(methods)) => Some(methods),
        _ => None,
    }
}

pub(super) fn results_of<'i>(revision: &'i RevisionInput<'_>, ty: &TypeRef) -> Option<&'i [(String, Vec<TypeRef>)]> {
    match revision.model.types.get(ty.named()?).map(|ty| &ty.kind) {
        Some(TypeKind::Results(results)) => Some(results),
        _ => None,
    }
}

impl<'i> AdaptersInput<'i> {
    /// The pairs, each with the module of its conversions and that of the functions that its rules call.
    pub(super) fn pairs(&self) -> Vec<(Ident, Pair<'i>, Option<Ident>)> {
        let pairs = self.plans.iter().filter_map(|plan| {
            let (from, to) = (self.revision(&plan.from)?, self.revision(&plan.to)?);
            let later = if self.position(from) > self.position(to) {
                from
            } else {
                to
            };
            let calls = plan.calls().next().is_some();
            let functions = later.functions_module().filter(|_| calls);
            let module = format_ident!("{}_to_{}", from.module, to.module);
            Some((module, Pair { plan, from, to }, functions))
        });
        pairs.collect()
    }
}
