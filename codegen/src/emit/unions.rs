//! Unions: an enum for each, and the code that determines the variant of an instance.

use std::collections::BTreeSet;

use mcp_json_schema::JsonType;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use serde_json::json;

use super::Emitter;
use super::docs::comment;
use super::names::link_to_type;
use super::source::expression;
use crate::error::EmitError;
use crate::markdown::capitalised;
use crate::model::names::{UNKNOWN, unique};
use crate::model::{Case, Decision, Type, TypeRef, Union, Variant};
use crate::templates::render;

impl Emitter<'_> {
    /// Emits an enum and its table.
    pub(super) fn union(&self, name: &str, ty: &Type, union: &Union) -> Result<String, EmitError> {
        let declared = union.variants.iter().map(|variant| {
            let held = self.held(&variant.ty, variant.boxed);
            json!({"docs": variant_docs(variant), "declared": format!("{}({held})", variant.name)})
        });
        let unknown = unknown_variant(union);
        let mut head = format!("{name}: {}[{:?}]", self.schema(), ty.pointer);
        let (mut rows, mut code) = (self.variant_rows(union), String::new());
        match (union.tags(), &unknown) {
            (Some((tag, values)), Some(unknown)) => {
                head += &format!(" by {tag:?}");
                let tagged = values.iter().zip(rows);
                let tagged = tagged.map(|(value, variant)| format!("{value:?} => {variant}"));
                rows = tagged.chain([format!("_ => {unknown}")]).collect();
            }
            _ => {
                rows.extend(unknown.clone());
                let decode = expression(name, &self.union_decode(union, unknown.as_deref()))?;
                let otherwise = unknown.as_ref().map(|unknown| format!(", else {unknown}"));
                code = format!("|reader| {decode}{}", otherwise.unwrap_or_else(|| or_another(union)));
            }
        }
        let values = json!({
            "docs": self.docs(ty),
            "name": name,
            "derived": "",
            "variants": Vec::from_iter(declared),
            "about": "A variant",
            "unknown": unknown.map(|unknown| format!("{unknown}({})", self.wire("RawJson"))),
            "table": self.table("union!"),
            "head": head,
            "rows": rows,
            "code": Vec::from_iter(code.lines()),
        });
        render("parts/enum.rs", values)
    }

    /// Returns the name of each variant, with the type that converts to it by `From` in parentheses, unless two variants
    /// hold that type.
    fn variant_rows(&self, union: &Union) -> Vec<String> {
        let model = self.input.model();
        let rows = union.variants.iter().map(|variant| {
            let (name, ty) = (&variant.name, model.resolve(&variant.ty));
            let same = union.variants.iter().filter(|other| model.resolve(&other.ty) == ty);
            if same.count() > 1 {
                return name.clone();
            }
            let also = if variant.ty == TypeRef::String { ", &str" } else { "" };
            format!("{name}({}{also})", self.ty(&variant.ty))
        });
        rows.collect()
    }

    fn union_decode(&self, union: &Union, unknown: Option<&str>) -> TokenStream {
        let choice = Choice {
            union,
            unknown: unknown.map(ident),
            emitter: self,
        };
        let objects = union.objects.as_ref();
        let objects = objects.map(|decision| choice.write(decision, About::Whole));
        let others = union.variants.iter();
        let others: Vec<&Variant> = others.filter(|variant| variant.kind != JsonType::Object).collect();
        if others.is_empty() {
            return objects.unwrap_or_default();
        }
        let types = choice.wire("JsonType");
        let arms = others.iter().map(|variant| {
            let (json_type, name) = (type_token(variant.kind), ident(&variant.name));
            quote!(#types::#json_type => reader.decode().map(Self::#name))
        });
        let object_arm = objects.map(|objects| quote!(#types::Object => #objects,));
        let mut expected: Vec<&str> = others.iter().map(|variant| variant_type_name(variant)).collect();
        if union.objects.is_some() {
            expected.push("an object");
        }
        let expected = expected.join(" or ");
        quote! {
            match reader.json_type()? {
                #(#arms,)*
                #object_arm
                found => Err(reader.wrong_type(#expected, found)),
            }
        }
    }
}

/// Writes decisions as code.
struct Choice<'u> {
    union: &'u Union,
    unknown: Option<Ident>,
    emitter: &'u Emitter<'u>,
}

/// The subject of a decision.
#[derive(Clone, Copy)]
enum About {
    /// The next object, which is decoded as its variant.
    Whole,
    /// An object inside it, which determines the index of the variant of the whole.
    Inner,
}

impl Choice<'_> {
    /// Returns an expression that decodes the next object, or determines the index of its variant.
    fn write(&self, decision: &Decision, about: About) -> TokenStream {
        match decision {
            Decision::Is(index) => match about {
                About::Whole => self.variant(*index),
                About::Inner => {
                    let index = proc_macro2::Literal::usize_unsuffixed(*index);
                    quote!(Ok(#index))
                }
            },
            Decision::Tag {
                member,
                types,
                cases,
                absent,
                others,
            } => {
                let arms = cases.iter().map(|(values, decision)| {
                    let written = self.write(decision, about);
                    quote!(#(Some(#values))|* => #written)
                });
                let peeked = match types.as_ref().map(|types| self.json_types(types)) {
                    None => quote!(peek_tag(#member)),
                    Some(types) => quote!(peek_constant(#member, #types)),
                };
                let missing = quote!(Err(reader.missing(#member)));
                let absent = absent.as_deref().map(|decision| self.write(decision, about));
                let absent = absent.unwrap_or_else(|| missing.clone());
                let others = others.as_deref().map(|decision| self.write(decision, about));
                let others = match (others, about, &self.unknown) {
                    (Some(others), ..) => quote!(Some(_) => #others, None => #absent),
                    (None, About::Inner, _) => quote!(_ => #absent),
                    (None, About::Whole, Some(unknown)) => {
                        quote!(Some(_) => reader.unknown_variant().map(Self::#unknown), None => #absent)
                    }
                    (None, About::Whole, None) => quote!(Some(_) => #missing, None => #absent),
                };
                quote! {
                    match reader.#peeked?.as_deref() {
                        #(#arms,)*
                        #others,
                    }
                }
            }
            Decision::Has {
                cases,
                otherwise,
                needs,
            } => {
                let discriminators = cases.iter().map(|case| self.discriminator(case));
                let arms = cases.iter().map(|Case { member, decision, .. }| {
                    let written = self.write(decision, about);
                    quote!(Some(#member) => #written)
                });
                let otherwise = self.write(otherwise, about);
                quote! {
                    match reader.peek_discriminator(&[#(#discriminators),*], &[#(#needs),*])? {
                        #(#arms,)*
                        _ => #otherwise,
                    }
                }
            }
            Decision::Within { member, decision } => {
                let chosen = self.write(decision, About::Inner);
                let arms = match about {
                    About::Whole => {
                        let arms = indices(decision).into_iter().map(|index| {
                            let decoded = self.variant(index);
                            let index = proc_macro2::Literal::usize_unsuffixed(index);
                            quote!(Some(#index) => #decoded)
                        });
                        quote!(#(#arms,)* _)
                    }
                    About::Inner => quote!(Some(chosen) => Ok(chosen), None),
                };
                quote! {
                    match reader.peek_into(#member, |reader| #chosen)? {
                        #arms => Err(reader.missing(#member)),
                    }
                }
            }
        }
    }

    /// Returns the discriminator by which the reader recognises a case.
    fn discriminator(&self, case: &Case) -> TokenStream {
        let (member, needs) = (&case.member, &case.needs);
        let discriminator = self.wire("Discriminator");
        let types = self.json_types(&case.kinds);
        quote!(#discriminator { member: #member, types: #types, required: &[#(#needs),*] })
    }

    fn json_types(&self, types: &BTreeSet<JsonType>) -> TokenStream {
        let types = types.iter().map(|of_case| {
            let (json_type, of_case) = (self.wire("JsonType"), type_token(*of_case));
            quote!(#json_type::#of_case)
        });
        quote!(&[#(#types),*])
    }

    /// Returns the name or path of an item of `mcp-wire`.
    fn wire(&self, name: &str) -> TokenStream {
        self.emitter.wire(name).parse().unwrap_or_default()
    }

    fn variant(&self, index: usize) -> TokenStream {
        let name = ident(&self.union.variants[index].name);
        quote!(reader.decode().map(Self::#name))
    }
}

/// Returns the variants to try when an object isn't the one that its members suggest.
fn or_another(union: &Union) -> String {
    let objects = union.variants.iter().filter(|variant| variant.kind == JsonType::Object);
    let names: Vec<&str> = objects.map(|variant| variant.name.as_str()).collect();
    match names.as_slice() {
        [] | [_] => String::new(),
        names => format!(", or {}", names.join(" ")),
    }
}

/// Returns the variant for unknown values, if a union can have any.
pub(super) fn unknown_variant(union: &Union) -> Option<String> {
    let taken = |name: &str| union.variants.iter().any(|variant| variant.name == name);
    has_tag(union.objects.as_ref()).then(|| unique(UNKNOWN, taken))
}

/// Whether values of a union can have an unknown tag.
fn has_tag(decision: Option<&Decision>) -> bool {
    match decision {
        Some(Decision::Tag { others, .. }) => others.is_none(),
        Some(Decision::Has { cases, otherwise, .. }) => {
            has_tag(Some(otherwise)) || cases.iter().any(|case| has_tag(Some(&case.decision)))
        }
        _ => false,
    }
}

fn indices(decision: &Decision) -> BTreeSet<usize> {
    match decision {
        Decision::Is(index) => BTreeSet::from([*index]),
        Decision::Tag {
            cases, absent, others, ..
        } => {
            let cases = cases.iter().map(|(_, decision)| decision);
            let decisions = cases.chain(absent.as_deref()).chain(others.as_deref());
            decisions.flat_map(indices).collect()
        }
        Decision::Has { cases, otherwise, .. } => {
            let cases = cases.iter().map(|case| &case.decision);
            cases.chain([&**otherwise]).flat_map(indices).collect()
        }
        Decision::Within { decision, .. } => indices(decision),
    }
}

fn variant_docs(variant: &Variant) -> String {
    let text = match &variant.ty {
        TypeRef::Named(name) => format!("See {}.", link_to_type(name)),
        _ => format!("{}.", capitalised(variant_type_name(variant))),
    };
    comment("    ", &text)
}

/// Returns the name of a type or variant as a token.
fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

fn type_token(json_type: JsonType) -> Ident {
    ident(&format!("{json_type:?}"))
}

fn variant_type_name(variant: &Variant) -> &'static str {
    match variant.ty {
        TypeRef::Integer => "an integer",
        _ => variant.kind.with_article(),
    }
}
