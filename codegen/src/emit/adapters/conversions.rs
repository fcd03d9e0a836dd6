//! The conversions of one pair of revisions in one direction.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{RevisionInput, mentions};
use crate::adapt::{Fate, How, Plan, Refusal, VariantPlan};
use crate::emit::messages::{method_variants, result_variants};
use crate::emit::scaffold::formatted;
use crate::emit::strings::unknown_value;
use crate::emit::tokens::ident;
use crate::emit::unions::unknown_variant;
use crate::emit::{EmitError, source};
use crate::model::{TypeKind, TypeRef, Union};
use mcp_wire::JsonType;

/// What the conversions of a pair are emitted from.
pub(super) struct Pair<'i> {
    pub(super) plan: &'i Plan,
    pub(super) from: &'i RevisionInput<'i>,
    pub(super) to: &'i RevisionInput<'i>,
}

/// The name that generated code has for the revision that values come from.
const SOURCE: &str = "source";
/// The name that generated code has for the revision that values go to.
const TARGET: &str = "target";

impl Pair<'_> {
    /// The module of the pair. `primitives` has the implementations for types that every revision shares, each of which
    /// may be written only once.
    pub(super) fn module(
        &self,
        file: &str,
        functions: Option<&Ident>,
        primitives: &mut BTreeSet<String>,
    ) -> Result<Vec<String>, EmitError> {
        let mut items = Vec::new();
        let mut moved = Vec::new();
        for ((source, target), how) in &self.plan.conversions {
            let (from, to) = (self.source(source), self.target(target));
            let shared = match (source.named(), target.named()) {
                (Some(_), Some(_)) => None,
                (None, None) => Some(format!("{source:?} {target:?}")),
                (None, _) => Some(format!("{source:?} {} {to}", self.to.model.revision)),
                (_, None) => Some(format!("{} {from} {target:?}", self.from.model.revision)),
            };
            if shared.is_some_and(|shared| !primitives.insert(shared)) {
                continue;
            }
            if let How::Struct(plan) = how
                && let Some(row) = self.moved(source, target, plan)
            {
                moved.push(row);
                continue;
            }
            let body = self.body(source, target, how);
            let text = body.to_string();
            let conversion = if mentions(&text, "conversion") {
                quote!(conversion)
            } else {
                quote!(_)
            };
            items.push(quote! {
                impl Convert<#to, Revision> for #from {
                    fn convert(self, #conversion: &mut Conversion) -> Result<#to, Unrepresentable> {
                        #body
                    }
                }
            });
        }
        let items = quote!(#(#items)*);
        let table = match moved.as_slice() {
            [] => String::new(),
            rows => format!("moved! {{\n{}\n}}\n", rows.join("\n")),
        };
        let text = format!("{items} {table} {}", if moved.is_empty() { "" } else { "Revision" });
        let convert = [
            "AUTOMATIC",
            "Convert",
            "LossKind",
            "close",
            "close_entries",
            "close_valid",
            "moved",
            "open",
        ];
        let ours = ["Conversion", "Revision", "Unrepresentable"];
        let used = |names: &[&str]| -> BTreeSet<String> {
            let used = names.iter().filter(|name| mentions(&text, name));
            used.map(|name| (*name).to_owned()).collect()
        };
        let mut imports = source::import("mcp_convert", &used(&convert)) + &source::import("crate", &used(&ours));
        let revisions = [(SOURCE, self.from), (TARGET, self.to)].into_iter();
        for (name, revision) in revisions.filter(|(name, _)| mentions(&text, name)) {
            imports.push_str(&format!("use crate::{} as {name};\n", revision.module));
        }
        if let Some(module) = functions {
            imports.push_str(&format!("use crate::{module} as functions;\n"));
        }
        let title = format!(
            "//! Values of revision {} as values of {}.",
            self.plan.from, self.plan.to
        );
        Ok(vec![title, imports, table, formatted(file, items)?])
    }

    pub(super) fn source(&self, ty: &TypeRef) -> TokenStream {
        qualified(SOURCE, ty)
    }

    pub(super) fn target(&self, ty: &TypeRef) -> TokenStream {
        qualified(TARGET, ty)
    }

    /// Whether a type of the target knows its definition, so that its values can be validated.
    fn is_validated(&self, target: &TypeRef) -> bool {
        matches!(self.to.model.resolve(target), TypeRef::Named(_))
    }

    fn body(&self, source: &TypeRef, target: &TypeRef, how: &How) -> TokenStream {
        match how {
            How::Struct(plan) => self.object(source, target, plan),
            How::Union(variants) => {
                let matched = self.variants(source, target, variants);
                quote!(let value = self; #matched)
            }
            How::Strings { refused, closed } => self.strings(source, target, refused, *closed),
            How::Methods(methods) => self.methods(source, target, methods),
            How::Results(results) => self.results(source, target, results),
            How::Opened if *target == TypeRef::Any => quote!(open(&self)),
            How::Opened => quote!(close(&open(&self)?)),
            How::Wrapped { moved: true } => quote!(Ok(Some(self))),
            How::Wrapped { moved: false } => quote!(self.convert(conversion).map(Some)),
            How::Unwrapped { moved } => {
                let value = if *moved {
                    quote!(Ok(value))
                } else {
                    quote!(value.convert(conversion))
                };
                quote! {
                    match self {
                        Some(value) => #value,
                        None => Err(Unrepresentable::no_null()),
                    }
                }
            }
            How::Closed => match target {
                TypeRef::Named(_) => quote!(close_valid(&self)),
                TypeRef::Map(item) if self.is_validated(item) => quote!(close_entries(&self)),
                _ => quote!(close(&self)),
            },
        }
    }

    /// An expression that converts `value`, a type of the source, variant by variant.
    pub(super) fn variants(&self, source: &TypeRef, target: &TypeRef, variants: &[VariantPlan]) -> TokenStream {
        let (from, to) = (self.source(source), self.target(target));
        let unknown_target = union_of(self.to, target).and_then(unknown_variant);
        let [single] = variants else {
            let arms = variants.iter().map(|plan| {
                let name = plan.variant.as_deref().map(ident);
                let is_object = self.is_object(&plan.from);
                let fate = self.fate(plan, &to);
                let held = matches!(plan.fate, Fate::Held { .. });
                let refused_by_rule =
                    matches!(&plan.fate, Fate::Refused(refusal) if refusal.rule != crate::adapt::AUTOMATIC);
                let carried = unknown_target
                    .as_ref()
                    .filter(|_| is_object && !held && !refused_by_rule);
                let carried = carried.map(
                    |unknown| quote!(#from::#name(value) if conversion.carries() => Ok(#to::#unknown(open(&value)?)),),
                );
                let pattern = if mentions(&fate.to_string(), "value") {
                    quote!(value)
                } else {
                    quote!(_)
                };
                quote!(#carried #from::#name(#pattern) => #fate,)
            });
            let arms: Vec<_> = arms.collect();
            let unknown = union_of(self.from, source)
                .and_then(unknown_variant)
                .map(|unknown| match &unknown_target {
                    Some(other) => quote!(#from::#unknown(json) => Ok(conversion.reinterpret(json, #to::#other)),),
                    None => quote!(#from::#unknown(json) => close(&json),),
                });
            return quote! {
                match value {
                    #(#arms)*
                    #unknown
                }
            };
        };
        if let (Some(name), unknown) = (&single.variant, union_of(self.from, source).and_then(unknown_variant)) {
            let (name, fate) = (ident(name), self.fate(single, &to));
            let unknown = unknown.map(|unknown| quote!(#from::#unknown(json) => close(&json),));
            return quote!(match value { #from::#name(value) => #fate, #unknown });
        }
        let fate = self.fate(single, &to);
        if mentions(&fate.to_string(), "value") {
            fate
        } else {
            quote!(drop(value); #fate)
        }
    }

    /// What becomes of `value`, which a variant holds.
    fn fate(&self, plan: &VariantPlan, to: &TokenStream) -> TokenStream {
        match &plan.fate {
            Fate::Held { variant, boxed, moved } => {
                let (unboxed, reboxed) = match (plan.boxed, *boxed) {
                    (true, false) => (quote!((*value)), false),
                    (false, true) => (quote!(value), true),
                    _ => (quote!(value), false),
                };
                let wrap = variant.as_ref().map(|variant| {
                    let variant = ident(variant);
                    quote!(#to::#variant)
                });
                if *moved {
                    let value = if reboxed { quote!(Box::new(#unboxed)) } else { unboxed };
                    return match wrap {
                        Some(wrap) => quote!(Ok(#wrap(#value))),
                        None => quote!(Ok(#value)),
                    };
                }
                let converted = quote!(#unboxed.convert(conversion));
                let converted = if reboxed {
                    quote!(#converted.map(Box::new))
                } else {
                    converted
                };
                match wrap {
                    Some(wrap) => quote!(#converted.map(#wrap)),
                    None => converted,
                }
            }
            Fate::Replaced { template, rule } => quote!(conversion.replace(&value, #template, #rule)),
            Fate::Refused(refusal) => {
                let refusal = refuse(refusal);
                quote!(Err(#refusal))
            }
        }
    }

    fn is_object(&self, ty: &TypeRef) -> bool {
        match ty {
            TypeRef::Named(name) => match self.from.model.types.get(name).map(|ty| &ty.kind) {
                Some(TypeKind::Struct(_)) => true,
                Some(TypeKind::Union(union)) => union.variants.iter().all(|variant| variant.kind == JsonType::Object),
                _ => false,
            },
            TypeRef::OpenObject | TypeRef::Map(_) => true,
            _ => false,
        }
    }

    fn strings(&self, source: &TypeRef, target: &TypeRef, refused: &[String], closed: bool) -> TokenStream {
        let (from, to) = (self.source(source), self.target(target));
        let known = |revision: &RevisionInput<'_>, ty: &TypeRef| match ty {
            TypeRef::Named(name) => revision.items.enumeration(name).map(|item| item.variants.clone()),
            _ => None,
        };
        let (sources, targets) = (known(self.from, source), known(self.to, target));
        let open_text = |text: TokenStream| {
            let Some(unknown) = targets.as_ref().map(unknown_value).filter(|_| closed) else {
                return quote!(Ok(#to::from(#text)));
            };
            quote! {
                match #to::from(#text) {
                    #to::#unknown(text) if !conversion.carries() => {
                        Err(Unrepresentable::no_such_value(&text, target::REVISION))
                    }
                    known => Ok(known),
                }
            }
        };
        let Some(sources) = sources else {
            return open_text(quote!(self));
        };
        let Some(targets) = &targets else {
            return quote!(Ok(self.as_str().to_owned()));
        };
        let arms = sources.iter().map(|(value, variant)| match targets.get(value) {
            Some(other) => quote!(#from::#variant => Ok(#to::#other),),
            None if refused.contains(value) => quote! {
                #from::#variant if conversion.carries() => Ok(#to::from(#value)),
                #from::#variant => Err(Unrepresentable::no_such_value(#value, target::REVISION)),
            },
            None => quote!(#from::#variant => Ok(#to::from(#value)),),
        });
        let unknown = unknown_value(&sources);
        let other = open_text(quote!(text));
        quote! {
            match self {
                #(#arms)*
                #from::#unknown(text) => #other,
            }
        }
    }

    fn methods(&self, source: &TypeRef, target: &TypeRef, methods: &[(String, Option<String>)]) -> TokenStream {
        let (from, to) = (self.source(source), self.target(target));
        let (Some(own), Some(others)) = (methods_of(self.from, source), methods_of(self.to, target)) else {
            return TokenStream::new();
        };
        let (variants, unknown) = method_variants(own);
        let (other_variants, other_unknown) = method_variants(others);
        let arms = own.iter().zip(&variants).map(|((method, ty), variant)| {
            let becomes = methods.iter().find(|(name, _)| name == ty).and_then(|(_, other)| other.as_ref());
            let other = becomes.and_then(|ty| others.iter().position(|(_, other)| other == ty));
            match other.and_then(|at| other_variants.get(at)) {
                Some(other) => quote!(#from::#variant(message) => message.convert(conversion).map(#to::#other),),
                None => {
                    let carried = quote!(#from::#variant(message) if conversion.carries() => {
                        close(&open(&message)?).map(#to::#other_unknown)
                    });
                    quote!(#carried #from::#variant(_) => Err(Unrepresentable::no_such_method(#method, target::REVISION)),)
                }
            }
        });
        let only_there = others.iter().map(|(method, _)| method);
        let only_there: Vec<&String> = only_there
            .filter(|method| own.iter().all(|(own, _)| own != *method))
            .collect();
        let refused = (!only_there.is_empty()).then(|| {
            quote! {
                #from::#unknown(message) if [#(#only_there),*].contains(&message.method.as_str()) => {
                    Err(Unrepresentable::no_such_method(&message.method, source::REVISION))
                }
            }
        });
        quote! {
            match self {
                #(#arms)*
                // What was carried is known again.
                #from::#unknown(message) if conversion.carries() => close(&open(&message)?),
                // Only the target knows the method, which a peer of the source's revision doesn't have.
                #refused
                // Neither knows the method: whoever gets it refuses it.
                #from::#unknown(message) => Ok(#to::#other_unknown(message)),
            }
        }
    }

    fn results(&self, source: &TypeRef, target: &TypeRef, results: &[(TypeRef, Option<TypeRef>)]) -> TokenStream {
        let (from, to) = (self.source(source), self.target(target));
        let (Some(own), Some(others)) = (results_of(self.from, source), results_of(self.to, target)) else {
            return TokenStream::new();
        };
        let others = result_variants(others);
        let arms = result_variants(own).into_iter().map(|(ty, variant)| {
            let becomes = results
                .iter()
                .find(|(own, _)| *own == ty)
                .and_then(|(_, other)| other.as_ref());
            let other = becomes.and_then(|ty| others.iter().find(|(other, _)| other == ty));
            match other {
                Some((_, other)) => quote!(#from::#variant(result) => result.convert(conversion).map(#to::#other),),
                None => {
                    let target = &self.plan.to;
                    let refusal = refuse(&Refusal {
                        code: -32603,
                        because: format!("no method of revision {target} has such a result"),
                        rule: crate::adapt::AUTOMATIC.to_owned(),
                    });
                    quote!(#from::#variant(_) => Err(#refusal),)
                }
            }
        });
        quote!(match self { #(#arms)* })
    }
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

fn union_of<'i>(revision: &'i RevisionInput<'_>, ty: &TypeRef) -> Option<&'i Union> {
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

fn methods_of<'i>(revision: &'i RevisionInput<'_>, ty: &TypeRef) -> Option<&'i [(String, String)]> {
    match revision.model.types.get(ty.named()?).map(|ty| &ty.kind) {
        Some(TypeKind::Methods(methods)) => Some(methods),
        _ => None,
    }
}

fn results_of<'i>(revision: &'i RevisionInput<'_>, ty: &TypeRef) -> Option<&'i [(String, Vec<TypeRef>)]> {
    match revision.model.types.get(ty.named()?).map(|ty| &ty.kind) {
        Some(TypeKind::Results(results)) => Some(results),
        _ => None,
    }
}
