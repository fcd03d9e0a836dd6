//! Unions: an enum, told apart by what tells its variants apart.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::Emitter;
use super::tokens::ident;
use crate::model::names::{UNKNOWN, unique};
use crate::model::{Case, Decision, JsonKind, Type, TypeRef, Union, Variant};

impl Emitter<'_> {
    /// An enum and its implementations.
    pub(super) fn union(&self, name: &str, ty: &Type, union: &Union) -> TokenStream {
        let rust = ident(name);
        let docs = self.documenter.ty(ty);
        let variants = union.variants.iter().map(|variant| {
            let (name, held) = (ident(&variant.name), self.scope.held(&variant.ty, variant.boxed));
            let docs = variant_docs(variant);
            quote!(#docs #name(#held))
        });
        let unknown = unknown_variant(union);
        let unknown_variant = unknown.as_ref().map(|unknown| {
            quote! {
                /// A variant that the revision doesn't declare, as it came.
                #unknown(mcp_wire::OpenJson),
            }
        });
        let names = union.variants.iter().map(|variant| ident(&variant.name));
        let written = names
            .chain(unknown.clone())
            .map(|name| quote!(Self::#name(value) => value.serialize(serializer)));
        let conversions = self.union_conversions(name, union);
        let decode = self.union_decode(union, unknown.as_ref());
        let pointer = &ty.pointer;
        quote! {
            #docs
            #[derive(Debug, Clone, PartialEq)]
            pub enum #rust {
                #(#variants,)*
                #unknown_variant
            }

            #conversions

            impl mcp_wire::Decode for #rust {
                fn decode(reader: &mut mcp_wire::Reader<'_>) -> mcp_wire::Decoded<Self> {
                    #decode
                }
            }

            impl mcp_wire::serde::Serialize for #rust {
                fn serialize<S: mcp_wire::serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> ::std::result::Result<S::Ok, S::Error> {
                    match self {
                        #(#written,)*
                    }
                }
            }
            mcp_wire::deserialize_by_decoding!(#rust);
            crate::schema::judged!(#rust, #pointer);
        }
    }

    /// `From` for each type that only one variant holds.
    fn union_conversions(&self, name: &str, union: &Union) -> TokenStream {
        let rust = ident(name);
        let from = self.scope.std("From");
        let mut holders: BTreeMap<&TypeRef, Vec<&Variant>> = BTreeMap::new();
        for variant in &union.variants {
            holders
                .entry(self.input.model.resolve(&variant.ty))
                .or_default()
                .push(variant);
        }
        holders
            .values()
            .filter_map(|variants| match variants.as_slice() {
                [only] => Some(*only),
                _ => None,
            })
            .map(|variant| {
                let (held, name) = (self.scope.ty(&variant.ty), ident(&variant.name));
                let value = if variant.boxed {
                    let pointer = self.scope.std("Box");
                    quote!(#pointer::new(value))
                } else {
                    quote!(value)
                };
                let text = (variant.ty == TypeRef::String).then(|| {
                    quote! {
                        impl #from<&str> for #rust {
                            fn from(value: &str) -> Self {
                                Self::#name(value.to_owned())
                            }
                        }
                    }
                });
                quote! {
                    impl #from<#held> for #rust {
                        fn from(value: #held) -> Self {
                            Self::#name(#value)
                        }
                    }
                    #text
                }
            })
            .collect()
    }

    fn union_decode(&self, union: &Union, unknown: Option<&Ident>) -> TokenStream {
        let choice = Choice { union, unknown };
        let objects = union.objects.as_ref().map(|decision| choice.decode(decision));
        let others: Vec<&Variant> = union
            .variants
            .iter()
            .filter(|variant| variant.kind != JsonKind::Object)
            .collect();
        if others.is_empty() {
            return objects.unwrap_or_default();
        }
        let arms = others.iter().map(|variant| {
            let (kind, name) = (kind_token(variant.kind), ident(&variant.name));
            quote!(mcp_wire::Kind::#kind => mcp_wire::Decode::decode(reader).map(Self::#name))
        });
        let object_arm = objects.map(|objects| quote!(mcp_wire::Kind::Object => #objects,));
        let mut kinds: Vec<&str> = others.iter().map(|variant| variant_kind_name(variant)).collect();
        if union.objects.is_some() {
            kinds.push("an object");
        }
        let expected = kinds.join(" or ");
        quote! {
            match reader.kind()? {
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
    unknown: Option<&'u Ident>,
}

impl Choice<'_> {
    /// An expression that decodes the object that comes next as the variant that it is.
    fn decode(&self, decision: &Decision) -> TokenStream {
        match decision {
            Decision::Is(index) => self.variant(*index),
            Decision::Tag { member, cases, absent } => {
                let arms = cases.iter().map(|(values, decision)| {
                    let decoded = self.decode(decision);
                    quote!(#(Some(#values))|* => #decoded)
                });
                let unknown = match self.unknown {
                    Some(unknown) => quote!(Some(_) => reader.unknown_variant().map(Self::#unknown)),
                    None => quote!(Some(_) => Err(reader.missing(#member))),
                };
                let absent = match absent {
                    Some(decision) => self.decode(decision),
                    None => quote!(Err(reader.missing(#member))),
                };
                quote! {
                    match reader.peek_tag(#member)?.as_deref() {
                        #(#arms,)*
                        #unknown,
                        None => #absent,
                    }
                }
            }
            Decision::Has {
                cases,
                otherwise,
                needs,
            } => {
                let tellings = cases.iter().map(telling);
                let arms = cases.iter().map(|Case { member, decision, .. }| {
                    let decoded = self.decode(decision);
                    quote!(Some(#member) => #decoded)
                });
                let otherwise = self.decode(otherwise);
                quote! {
                    match reader.peek_telling(&[#(#tellings),*], &[#(#needs),*])? {
                        #(#arms,)*
                        _ => #otherwise,
                    }
                }
            }
            Decision::Within { member, decision } => {
                let (chosen, variants) = (Self::choose(decision), indices(decision));
                let arms = variants.iter().map(|index| {
                    let decoded = self.variant(*index);
                    let index = proc_macro2::Literal::usize_unsuffixed(*index);
                    quote!(Some(#index) => #decoded)
                });
                quote! {
                    match reader.peek_into(#member, |reader| #chosen)? {
                        #(#arms,)*
                        _ => Err(reader.missing(#member)),
                    }
                }
            }
        }
    }

    fn variant(&self, index: usize) -> TokenStream {
        match self.union.variants.get(index) {
            Some(variant) => {
                let name = ident(&variant.name);
                quote!(mcp_wire::Decode::decode(reader).map(Self::#name))
            }
            None => TokenStream::new(),
        }
    }

    /// An expression that says which variant an inner object belongs to, by its index.
    fn choose(decision: &Decision) -> TokenStream {
        match decision {
            Decision::Is(index) => {
                let index = proc_macro2::Literal::usize_unsuffixed(*index);
                quote!(Ok(#index))
            }
            Decision::Tag { member, cases, absent } => {
                let arms = cases.iter().map(|(values, decision)| {
                    let chosen = Self::choose(decision);
                    quote!(#(Some(#values))|* => #chosen)
                });
                let absent = match absent {
                    Some(decision) => Self::choose(decision),
                    None => quote!(Err(reader.missing(#member))),
                };
                quote! {
                    match reader.peek_tag(#member)?.as_deref() {
                        #(#arms,)*
                        _ => #absent,
                    }
                }
            }
            Decision::Has {
                cases,
                otherwise,
                needs,
            } => {
                let tellings = cases.iter().map(telling);
                let arms = cases.iter().map(|Case { member, decision, .. }| {
                    let chosen = Self::choose(decision);
                    quote!(Some(#member) => #chosen)
                });
                let otherwise = Self::choose(otherwise);
                quote! {
                    match reader.peek_telling(&[#(#tellings),*], &[#(#needs),*])? {
                        #(#arms,)*
                        _ => #otherwise,
                    }
                }
            }
            Decision::Within { member, decision } => {
                let chosen = Self::choose(decision);
                quote! {
                    match reader.peek_into(#member, |reader| #chosen)? {
                        Some(chosen) => Ok(chosen),
                        None => Err(reader.missing(#member)),
                    }
                }
            }
        }
    }
}

/// The variant that holds what a union doesn't know, if it can meet such a thing.
pub(super) fn unknown_variant(union: &Union) -> Option<Ident> {
    let taken = |name: &str| union.variants.iter().any(|variant| variant.name == name);
    has_tag(union.objects.as_ref()).then(|| ident(&unique(UNKNOWN, taken)))
}

/// A case as the reader looks for it.
fn telling(case: &Case) -> TokenStream {
    let (member, needs) = (&case.member, &case.needs);
    let kinds = case.kinds.iter().map(|kind| kind_token(*kind));
    quote!(mcp_wire::Telling { member: #member, kinds: &[#(mcp_wire::Kind::#kinds),*], needs: &[#(#needs),*] })
}

/// Whether a union can meet a tag that it doesn't know.
fn has_tag(decision: Option<&Decision>) -> bool {
    match decision {
        Some(Decision::Tag { .. }) => true,
        Some(Decision::Has { cases, otherwise, .. }) => {
            has_tag(Some(otherwise)) || cases.iter().any(|case| has_tag(Some(&case.decision)))
        }
        _ => false,
    }
}

fn indices(decision: &Decision) -> Vec<usize> {
    let mut found = match decision {
        Decision::Is(index) => vec![*index],
        Decision::Tag { cases, absent, .. } => {
            let cases = cases.iter().flat_map(|(_, decision)| indices(decision));
            cases
                .chain(absent.iter().flat_map(|decision| indices(decision)))
                .collect()
        }
        Decision::Has { cases, otherwise, .. } => {
            let cases = cases.iter().flat_map(|case| indices(&case.decision));
            cases.chain(indices(otherwise)).collect()
        }
        Decision::Within { decision, .. } => indices(decision),
    };
    found.sort_unstable();
    found.dedup();
    found
}

fn variant_docs(variant: &Variant) -> TokenStream {
    let text = match &variant.ty {
        TypeRef::Named(name) => format!("See [`{name}`]."),
        _ => {
            let name = variant_kind_name(variant);
            let mut letters = name.chars();
            let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
            format!("{first}{}.", letters.as_str())
        }
    };
    super::docs::lines(&text)
}

fn kind_token(kind: JsonKind) -> Ident {
    ident(match kind {
        JsonKind::Null => "Null",
        JsonKind::Boolean => "Boolean",
        JsonKind::Number => "Number",
        JsonKind::String => "String",
        JsonKind::Array => "Array",
        JsonKind::Object => "Object",
    })
}

fn variant_kind_name(variant: &Variant) -> &'static str {
    match variant.kind {
        JsonKind::Null => "null",
        JsonKind::Boolean => "a boolean",
        JsonKind::Number if variant.ty == TypeRef::Integer => "an integer",
        JsonKind::Number => "a number",
        JsonKind::String => "a string",
        JsonKind::Array => "an array",
        JsonKind::Object => "an object",
    }
}
