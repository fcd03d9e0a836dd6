//! The messages that a side of the hub gets from the other, as functions.

use heck::ToSnakeCase;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::input::RevisionInput;
use super::types::qualified;
use crate::emit::messages::{method_variants, result_variants};
use crate::emit::tokens::ident;
use crate::model::{Member, MessageKind, Method, TypeKind, TypeRef, Union, is_internal};

/// The member of a message that its parameters are in.
pub(super) const PARAMS: &str = "params";

/// The handler of one side, and the calls of the other.
pub(super) struct Side<'i> {
    pub(super) hub: &'i RevisionInput<'i>,
    pub(super) side: &'static str,
    pub(super) other: &'static str,
    /// The union of the other side's requests.
    pub(super) requests: String,
    /// The union of their results.
    pub(super) results: String,
}

/// A message that the other side may send, as a function.
pub(super) struct Call<'i> {
    /// The method.
    pub(super) method: &'i Method,
    /// Its variant in the union of such messages.
    pub(super) variant: Ident,
    /// The function that is called for it.
    pub(super) function: Ident,
    /// The type of its parameters, and whether they may be absent; `None` for a message that declares none.
    pub(super) params: Option<(TokenStream, bool)>,
    /// Whether the message's constructor asks for them.
    asks_for_params: bool,
    /// The field that they are in.
    pub(super) field: Option<Ident>,
}

impl<'i> Side<'i> {
    pub(super) fn new(hub: &'i RevisionInput<'i>, side: &'static str, other: &'static str) -> Self {
        let (requests, results) = hub.model.requests_of(other);
        Self {
            hub,
            side,
            other,
            requests,
            results,
        }
    }
}

impl Side<'_> {
    /// The messages of a union that the other side may send, and its variant for those that it doesn't declare.
    fn calls(&self, union: &str, kind: MessageKind) -> Option<(Vec<Call<'_>>, Ident)> {
        let model = self.hub.model;
        let (prefix, suffix) = match kind {
            MessageKind::Request => ("", "Request"),
            MessageKind::Notification => ("on_", "Notification"),
        };
        let TypeKind::Methods(methods) = &model.types.get(union)?.kind else {
            return None;
        };
        let (variants, unknown) = method_variants(methods);
        let calls = methods.iter().zip(variants).filter_map(|((name, ty), variant)| {
            let method = model.methods.iter().find(|method| method.name == *name)?;
            let object = model.struct_of(&TypeRef::Named(ty.clone()))?;
            let declared = object.members.iter().find(|member| member.name == PARAMS);
            let field = self.hub.items.structure(ty)?.fields.get(PARAMS).cloned();
            let stem = ty.strip_suffix(suffix).unwrap_or(ty).to_snake_case();
            Some(Call {
                method,
                variant,
                function: ident(&format!("{prefix}{stem}")),
                params: declared.map(|member| (qualified("hub", &member.ty), !member.required)),
                asks_for_params: declared.is_some_and(Member::is_argument),
                field,
            })
        });
        Some((calls.collect(), unknown))
    }

    /// The requests that the other side may send; none can be answered where there are no results.
    pub(super) fn requests(&self) -> Option<(Vec<Call<'_>>, Ident)> {
        self.calls(&self.requests, MessageKind::Request)
            .filter(|_| !self.results().is_empty())
    }

    pub(super) fn notifications(&self) -> Option<(Vec<Call<'_>>, Ident)> {
        self.calls(&format!("{}Notification", self.other), MessageKind::Notification)
    }

    /// What this side may answer, each with its variant in the union of results.
    pub(super) fn results(&self) -> Vec<(TypeRef, Ident)> {
        match self.hub.model.types.get(&self.results).map(|ty| &ty.kind) {
            Some(TypeKind::Results(results)) => result_variants(results),
            Some(TypeKind::Union(union)) => variants(union),
            _ => Vec::new(),
        }
    }

    /// The variant of the union of results for the usual result of a method.
    pub(super) fn result(&self, method: &Method) -> Option<(TokenStream, Ident)> {
        let usual = method.results.first()?;
        let (ty, variant) = self.results().into_iter().find(|(ty, _)| ty == usual)?;
        Some((qualified("hub", &ty), variant))
    }
}

/// The types of a union's variants, each with its variant.
pub(super) fn variants(union: &Union) -> Vec<(TypeRef, Ident)> {
    let variants = union.variants.iter();
    variants
        .map(|variant| (variant.ty.clone(), ident(&variant.name)))
        .collect()
}

/// Whether a session leaves the method to its handler.
pub(super) fn is_for_handlers(call: &&Call<'_>) -> bool {
    !call.method.role.as_deref().is_some_and(is_internal)
}

impl Call<'_> {
    /// The parameter of a function that takes the message's parameters.
    pub(super) fn parameter(&self) -> Option<TokenStream> {
        self.params.as_ref().map(|(ty, optional)| {
            if *optional {
                quote!(params: Option<#ty>,)
            } else {
                quote!(params: #ty,)
            }
        })
    }

    /// A statement for a function that does nothing with its arguments.
    pub(super) fn ignored(&self) -> TokenStream {
        match &self.params {
            Some(_) => quote!(let _ = (params, context);),
            None => quote!(let _ = context;),
        }
    }

    pub(super) fn argument(&self) -> Option<TokenStream> {
        let field = self.field.as_ref()?;
        Some(quote!(message.#field,))
    }

    pub(super) fn pattern(&self) -> TokenStream {
        if self.field.is_some() {
            quote!(message)
        } else {
            quote!(_)
        }
    }

    /// A statement that makes the message.
    pub(super) fn message(&self) -> TokenStream {
        let ty = qualified("hub", &TypeRef::Named(self.method.ty.clone()));
        match (&self.params, &self.field) {
            (Some(_), Some(_)) if self.asks_for_params => quote!(let message = #ty::new(params);),
            (Some(_), Some(field)) => {
                let params = if *field == PARAMS {
                    quote!(params)
                } else {
                    quote!(#field: params)
                };
                quote!(let message = #ty { #params, ..#ty::default() };)
            }
            _ => quote!(let message = #ty::default();),
        }
    }
}
