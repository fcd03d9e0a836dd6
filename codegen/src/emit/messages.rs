//! Methods: the traits of requests and notifications, the unions by direction, whole messages, and the tables.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::Emitter;
use super::tokens::ident;
use crate::model::names::{UNKNOWN, unique, variant_names};
use crate::model::{Direction, JsonKind, MessageKind, Method, Struct, Type, TypeKind, TypeRef};
use crate::normalise::envelope::Envelope;

const PARAMS: &str = "params";

impl Emitter<'_> {
    /// `Request` or `Notification` for a struct that is one.
    pub(super) fn method_impl(&self, name: &str, object: &Struct) -> Option<TokenStream> {
        let method = self.input.model.methods.iter().find(|method| method.ty == name)?;
        let rust = ident(name);
        let wire = &method.name;
        let direction = direction_token(method.direction);
        let params = match object.members.iter().find(|member| member.name == PARAMS) {
            Some(member) if member.required => self.scope.ty(&member.ty),
            Some(member) => self.scope.optional(&self.scope.ty(&member.ty)),
            None => quote!(()),
        };
        let (kind, result) = match method.kind {
            MessageKind::Request => {
                let result = self.scope.ty(method.results.first().unwrap_or(&TypeRef::OpenObject));
                (quote!(Request), Some(quote!(type Result = #result;)))
            }
            MessageKind::Notification => (quote!(Notification), None),
        };
        Some(quote! {
            impl mcp_wire::#kind for #rust {
                const METHOD: &'static str = #wire;
                const DIRECTION: mcp_wire::Direction = #direction;
                type Params = #params;
                #result
            }
        })
    }

    /// One of several requests or notifications.
    pub(super) fn method_union(&self, name: &str, ty: &Type, variants: &[(String, String)]) -> TokenStream {
        let rust = ident(name);
        let docs = self.documenter.ty(ty);
        let types = variants.iter().map(|(_, ty)| TypeRef::Named(ty.clone()));
        let types: Vec<TypeRef> = types.collect();
        let (names, unknown) = method_variants(variants);
        let held: Vec<_> = types.iter().map(|ty| self.scope.ty(ty)).collect();
        let methods: Vec<&String> = variants.iter().map(|(method, _)| method).collect();
        let from = self.scope.std("From");
        let variant_docs = methods.iter().map(|method| super::docs::lines(&format!("`{method}`")));
        quote! {
            #docs
            #[derive(Debug, Clone, PartialEq)]
            pub enum #rust {
                #(#variant_docs #names(#held),)*
                /// A method that the revision doesn't declare, as it came.
                #unknown(mcp_wire::UnknownMethod),
            }

            impl #rust {
                /// The method's name on the wire.
                #[must_use]
                pub fn method(&self) -> &str {
                    match self {
                        #(Self::#names(_) => #methods,)*
                        Self::#unknown(unknown) => &unknown.method,
                    }
                }
            }

            #(impl #from<#held> for #rust {
                fn from(message: #held) -> Self {
                    Self::#names(message)
                }
            })*

            impl mcp_wire::Decode for #rust {
                fn decode(reader: &mut mcp_wire::Reader<'_>) -> mcp_wire::Decoded<Self> {
                    match reader.peek_tag("method")?.as_deref() {
                        #(Some(#methods) => mcp_wire::Decode::decode(reader).map(Self::#names),)*
                        _ => mcp_wire::Decode::decode(reader).map(Self::#unknown),
                    }
                }
            }

            impl mcp_wire::Object for #rust {
                fn extra(&self) -> &mcp_wire::Extra {
                    match self {
                        #(Self::#names(message) => message.extra(),)*
                        Self::#unknown(message) => message.extra(),
                    }
                }

                fn write_members<M: mcp_wire::serde::ser::SerializeMap>(
                    &self,
                    members: &mut mcp_wire::MemberWriter<'_, M>,
                ) -> ::std::result::Result<(), M::Error> {
                    match self {
                        #(Self::#names(message) => message.write_members(members),)*
                        Self::#unknown(message) => message.write_members(members),
                    }
                }
            }
            mcp_wire::serde_object!(#rust);

            impl mcp_wire::Validate for #rust {
                const POINTER: &'static str = "";

                fn judge() -> &'static mcp_wire::Judge {
                    crate::schema::judge()
                }

                /// Judges the message by its own definition; a method that the revision doesn't declare has none.
                fn validate(&self) -> ::std::result::Result<(), mcp_wire::Invalid> {
                    match self {
                        #(Self::#names(message) => message.validate(),)*
                        Self::#unknown(message) => Err(mcp_wire::Invalid::unknown_method(&message.method)),
                    }
                }
            }
        }
    }

    /// What may come back, by the method that was called.
    pub(super) fn result_union(&self, name: &str, ty: &Type, methods: &[(String, Vec<TypeRef>)]) -> TokenStream {
        let rust = ident(name);
        let docs = self.documenter.ty(ty);
        let (types, idents): (Vec<TypeRef>, Vec<Ident>) = result_variants(methods).into_iter().unzip();
        let held: Vec<_> = types.iter().map(|ty| self.scope.ty(ty)).collect();
        let documented = types.iter().map(|ty| {
            super::docs::lines(&match ty.named() {
                Some(name) => format!("See [`{name}`]."),
                None => "Any result.".to_owned(),
            })
        });
        let variant_of = |ty: &TypeRef| types.iter().position(|other| other == ty).map(|at| idents[at].clone());
        let arms = methods.iter().map(|(method, results)| {
            let decoded = self.decode_result(results, &variant_of);
            quote!(#method => #decoded)
        });
        quote! {
            #docs
            #[derive(Debug, Clone, PartialEq)]
            pub enum #rust {
                #(#documented #idents(#held),)*
            }

            impl #rust {
                /// Decodes what came back from `method`; `None` if the revision has no such method in this direction.
                ///
                /// # Errors
                /// When it isn't what the method returns.
                pub fn decode(
                    method: &str,
                    result: &mcp_wire::OpenJson,
                ) -> mcp_wire::Decoded<::std::option::Option<Self>> {
                    let mut reader = mcp_wire::Reader::new(result.text());
                    let reader = &mut reader;
                    let decoded: mcp_wire::Decoded<Self> = match method {
                        #(#arms,)*
                        _ => return Ok(None),
                    };
                    decoded.map(Some)
                }
            }

            impl mcp_wire::serde::Serialize for #rust {
                fn serialize<S: mcp_wire::serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> ::std::result::Result<S::Ok, S::Error> {
                    match self {
                        #(Self::#idents(result) => result.serialize(serializer),)*
                    }
                }
            }
        }
    }

    /// Decodes the usual result, or another one that a member tells from it.
    fn decode_result(&self, results: &[TypeRef], variant_of: &dyn Fn(&TypeRef) -> Option<Ident>) -> TokenStream {
        let Some((usual, others)) = results.split_first() else {
            return quote!(return Ok(None));
        };
        let decode = |ty: &TypeRef| {
            let variant = variant_of(ty);
            quote!(mcp_wire::Decode::decode(reader).map(Self::#variant))
        };
        let model = self.input.model;
        let required = |ty: &TypeRef| model.struct_of(ty)?.members.iter().find(|member| member.required);
        let Some(telling) = required(usual) else {
            return decode(usual);
        };
        let declared = |name: &str| {
            model
                .struct_of(usual)
                .is_some_and(|usual| usual.members.iter().any(|member| member.name == name))
        };
        // The usual result is told by what it requires, another one by a member that the usual one doesn't declare.
        let mut told = vec![(telling.name.as_str(), decode(usual))];
        for other in others {
            let members = model
                .struct_of(other)
                .map(|other| other.members.as_slice())
                .unwrap_or_default();
            let own = members.iter().find(|member| member.required && !declared(&member.name));
            told.extend(own.map(|member| (member.name.as_str(), decode(other))));
        }
        let usual = decode(usual);
        if told.len() == 1 {
            return usual;
        }
        let members = told.iter().map(|(member, _)| member);
        let arms = told
            .iter()
            .skip(1)
            .map(|(member, decode)| quote!(Some(#member) => #decode));
        quote! {
            match reader.peek_members(&[#(#members),*])? {
                #(#arms,)*
                _ => #usual,
            }
        }
    }

    /// What a peer may send, as one type.
    pub(super) fn message_aliases(&self) -> TokenStream {
        let model = self.input.model;
        let union = |name: String| {
            let known = model
                .types
                .get(&name)
                .is_some_and(|ty| matches!(ty.kind, TypeKind::Methods(_)));
            let rust = ident(&name);
            if known {
                quote!(#rust)
            } else {
                quote!(mcp_wire::UnknownMethod)
            }
        };
        ["Client", "Server"]
            .into_iter()
            .map(|side| {
                let (requests, notifications) = (union(format!("{side}Request")), union(format!("{side}Notification")));
                let message = quote!(mcp_wire::Message<#requests, #notifications>);
                let name = unique(&format!("{side}Message"), |name| model.types.contains_key(name));
                let name = ident(&name);
                let who = side.to_lowercase();
                if model.batches {
                    let docs = super::docs::lines(&format!(
                        "Whatever a {who} may send at once: a JSON-RPC message, or several in an array."
                    ));
                    quote!(#docs pub type #name = mcp_wire::Batch<#message>;)
                } else {
                    let docs = super::docs::lines(&format!("Whatever a {who} may send: a whole JSON-RPC message."));
                    quote!(#docs pub type #name = #message;)
                }
            })
            .collect()
    }

    /// The table of methods.
    pub(super) fn methods(&self) -> TokenStream {
        let lines = self.input.model.methods.iter().map(|method| self.method_line(method));
        quote! {
            //! The revision's methods.

            /// Every method: requests, then notifications, each by name.
            pub const METHODS: &[mcp_wire::Method] = &[#(#lines),*];
        }
    }

    /// The official name of a result, or those of its forms where the schema gives their union none.
    fn official_names<'m>(&'m self, ty: &'m TypeRef) -> Vec<&'m str> {
        let name = ty.named().unwrap_or("Result");
        match self.input.model.types.get(name) {
            Some(Type {
                official: false,
                kind: TypeKind::Union(union),
                ..
            }) => {
                let forms = union.variants.iter();
                forms.flat_map(|form| self.official_names(&form.ty)).collect()
            }
            Some(named) => vec![&named.documented_as],
            None => vec![name],
        }
    }

    fn method_line(&self, method: &Method) -> TokenStream {
        let (name, definition) = (&method.name, &method.definition);
        let direction = direction_token(method.direction);
        let mut results: Vec<&str> = method.results.iter().flat_map(|ty| self.official_names(ty)).collect();
        // The usual one first.
        let stem = definition.strip_suffix("Request");
        results.sort_by_key(|name| stem.is_none() || name.strip_suffix("Result") != stem);
        let capability = match &method.capability {
            Some(capability) => quote!(Some(#capability)),
            None => quote!(None),
        };
        quote! {
            mcp_wire::Method {
                name: #name,
                direction: #direction,
                capability: #capability,
                definition: #definition,
                results: &[#(#results),*],
            }
        }
    }

    /// The constants of error codes.
    pub(super) fn error_codes(&self) -> TokenStream {
        let codes = self.input.model.error_codes.iter().map(|code| {
            let docs = super::docs::lines(&format!("{}\n\n[Specification]({})", code.meaning, code.link));
            let (name, value) = (ident(&code.name), proc_macro2::Literal::i64_unsuffixed(code.code));
            quote!(#docs pub const #name: i64 = #value;)
        });
        quote! {
            //! What the `code` of an error says.

            pub use mcp_wire::error_code::*;

            #(#codes)*
        }
    }

    /// The definitions by name.
    pub(super) fn definitions(&self) -> TokenStream {
        let lines = self.input.model.definitions.iter().map(|(name, definition)| {
            let is_result_union = matches!(&definition.ty, TypeRef::Named(name)
                if self.input.model.types.get(name).is_some_and(|ty| matches!(ty.kind, TypeKind::Results(_))));
            let held = match &definition.ty {
                // Which result it is depends on the request, which nobody has told us here.
                _ if is_result_union => quote!(mcp_wire::OpenObject),
                TypeRef::Named(name) => {
                    let name = ident(name);
                    quote!(crate::#name)
                }
                other => self.scope.ty(other),
            };
            let held = match definition.envelope {
                Some(Envelope::Request) => quote!(mcp_wire::Call<#held>),
                Some(Envelope::Notification) => quote!(mcp_wire::Notice<#held>),
                None => held,
            };
            let pointer = &definition.pointer;
            quote!(Definition::new::<#held>(#name, #pointer, judge))
        });
        quote! {
            //! The schema's definitions by name, for tools that learn the type at run time.

            use mcp_wire::Definition;

            use crate::schema::judge;

            /// Every definition of the revision's schema, by name.
            pub const DEFINITIONS: &[Definition] = &[#(#lines),*];
        }
    }

    /// The schema and its judge.
    pub(super) fn schema(&self) -> TokenStream {
        let is_judged = |ty: &Type| {
            matches!(
                ty.kind,
                TypeKind::Struct(_) | TypeKind::Strings { .. } | TypeKind::Union(_)
            )
        };
        let judged = self.input.model.types.values().any(is_judged).then(judged_macro);
        quote! {
            //! The revision's schema, and the judge that knows it.

            use std::sync::LazyLock;

            /// The official schema without its prose, corrected, and without the JSON-RPC envelope around methods.
            pub const SCHEMA: &str = include_str!("../schema.json");

            /// The judge of the revision's values.
            #[must_use]
            pub fn judge() -> &'static mcp_wire::Judge {
                static JUDGE: LazyLock<mcp_wire::Judge> = LazyLock::new(|| mcp_wire::embedded_judge(SCHEMA));
                &JUDGE
            }

            #judged
        }
    }
}

/// What ties a type to its place in the schema.
fn judged_macro() -> TokenStream {
    quote! {
            macro_rules! judged {
                ($type:ty, $pointer:literal) => {
                    impl mcp_wire::Validate for $type {
                        const POINTER: &'static str = $pointer;

                        fn judge() -> &'static mcp_wire::Judge {
                            crate::schema::judge()
                        }
                    }

                    #[cfg(feature = "schemars")]
                    impl mcp_wire::schemars::JsonSchema for $type {
                        fn schema_name() -> ::std::borrow::Cow<'static, str> {
                            mcp_wire::json_schema::name($pointer)
                        }

                        fn schema_id() -> ::std::borrow::Cow<'static, str> {
                            mcp_wire::json_schema::id(crate::REVISION, $pointer)
                        }

                        fn json_schema(
                            generator: &mut mcp_wire::schemars::SchemaGenerator,
                        ) -> mcp_wire::schemars::Schema {
                            mcp_wire::json_schema::schema(generator, crate::REVISION, crate::schema::SCHEMA, $pointer)
                        }
                    }
                };
            }
            pub(crate) use judged;
    }
}

/// The variants of a union of methods, and the one for a method that it doesn't know.
pub(super) fn method_variants(methods: &[(String, String)]) -> (Vec<Ident>, Ident) {
    let types: Vec<TypeRef> = methods.iter().map(|(_, ty)| TypeRef::Named(ty.clone())).collect();
    let names = variant_names(&types, &vec![JsonKind::Object; types.len()], None);
    let unknown = ident(&unique(UNKNOWN, |name| names.iter().any(|other| other == name)));
    (names.iter().map(|name| ident(name)).collect(), unknown)
}

/// The types of a union of results, each with its variant.
pub(super) fn result_variants(methods: &[(String, Vec<TypeRef>)]) -> Vec<(TypeRef, Ident)> {
    let types: BTreeSet<&TypeRef> = methods.iter().flat_map(|(_, results)| results).collect();
    let types: Vec<TypeRef> = types.into_iter().cloned().collect();
    let names = variant_names(&types, &vec![JsonKind::Object; types.len()], None);
    types.into_iter().zip(names.iter().map(|name| ident(name))).collect()
}

fn direction_token(direction: Direction) -> TokenStream {
    match direction {
        Direction::ClientToServer => quote!(mcp_wire::Direction::ClientToServer),
        Direction::ServerToClient => quote!(mcp_wire::Direction::ServerToClient),
        Direction::Both => quote!(mcp_wire::Direction::Both),
    }
}
