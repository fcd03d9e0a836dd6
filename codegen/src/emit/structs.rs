//! Objects: the struct, its constructors, and how it is read and written.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::Emitter;
use super::docs::lines;
use super::members::Place;
use super::tokens::ident;
use crate::model::{Member, Struct, Type};
use crate::normalise::Scalar;

/// The most parameters that a constructor may have before clippy finds them too many.
const MOST_PARAMETERS: usize = 7;

impl Emitter<'_> {
    /// A struct and its implementations.
    pub(super) fn structure(&self, name: &str, ty: &Type, object: &Struct) -> TokenStream {
        let Some(places) = self.places(name, object) else {
            return TokenStream::new();
        };
        let definition = self.struct_definition(name, ty, object, &places);
        let constructors = self.constructors(name, object, &places);
        let decode = self.struct_decode(name, object, &places);
        let write = self.struct_write(name, object, &places);
        let method = self.method_impl(name, object);
        let rust = ident(name);
        let pointer = &ty.pointer;
        quote! {
            #definition
            #constructors
            #decode
            #write
            mcp_wire::serde_object!(#rust);
            crate::schema::judged!(#rust, #pointer);
            #method
        }
    }

    fn struct_definition(&self, name: &str, ty: &Type, object: &Struct, places: &[Place<'_>]) -> TokenStream {
        let docs = self.documenter.ty(ty);
        let rust = ident(name);
        let defaults = object.members.iter().all(|member| !member.required);
        let default = defaults.then(|| quote!(, Default));
        let fields = places.iter().map(|place| match place {
            Place::Constant {
                constant,
                field: Some(field),
                ..
            } => {
                let docs = lines(&format!("Whether `{}` is written.", constant.name));
                quote!(#docs #field: bool)
            }
            Place::Constant { .. } => TokenStream::new(),
            Place::Member {
                member,
                field,
                ty: held,
            } => {
                let docs = self.documenter.member(ty, &member.name, member.description.as_deref());
                quote!(#docs pub #field: #held)
            }
        });
        let fields = fields.filter(|field| !field.is_empty());
        let extra = extra_field(places);
        quote! {
            #docs
            #[derive(Debug, Clone, PartialEq #default)]
            pub struct #rust {
                #(#fields,)*
                /// Members that the revision doesn't declare, as they came.
                pub #extra: mcp_wire::Extra,
            }
        }
    }

    fn constructors(&self, name: &str, object: &Struct, places: &[Place<'_>]) -> TokenStream {
        let rust = ident(name);
        let new = object
            .members
            .iter()
            .any(|member| member.required)
            .then(|| self.new_function(places));
        let with = places.iter().filter_map(|place| self.with_function(place));
        let functions: TokenStream = new.into_iter().chain(with).collect();
        if functions.is_empty() {
            return functions;
        }
        quote!(impl #rust { #functions })
    }

    fn new_function(&self, places: &[Place<'_>]) -> TokenStream {
        let mut parameters = Vec::new();
        let mut fields = Vec::new();
        for place in places {
            match place {
                Place::Constant { field: Some(field), .. } => fields.push(quote!(#field: false)),
                Place::Constant { .. } => {}
                Place::Member { member, field, .. } if member.required => {
                    let (parameter, value) = self.scope.parameter(self.input.model, field, &member.ty, member.boxed);
                    parameters.push(parameter);
                    fields.push(if *field == value.to_string() {
                        value
                    } else {
                        quote!(#field: #value)
                    });
                }
                Place::Member { field, .. } => fields.push(quote!(#field: None)),
            }
        }
        let extra = extra_field(places);
        let many = (parameters.len() > MOST_PARAMETERS)
            .then(|| quote!(#[expect(clippy::too_many_arguments, reason = "the schema requires as many members")]));
        quote! {
            /// One with the members that must be there.
            #[must_use]
            #many
            pub fn new(#(#parameters),*) -> Self {
                Self { #(#fields,)* #extra: mcp_wire::Extra::new() }
            }
        }
    }

    fn with_function(&self, place: &Place<'_>) -> Option<TokenStream> {
        match place {
            Place::Constant {
                constant,
                field: Some(field),
                ..
            } => {
                let with = with_name(field);
                let docs = lines(&format!("The same with `{}` written.", constant.name));
                Some(quote! {
                    #docs
                    #[must_use]
                    pub fn #with(mut self) -> Self {
                        self.#field = true;
                        self
                    }
                })
            }
            Place::Member { member, field, .. } if !member.required => {
                let with = with_name(field);
                let docs = lines(&format!("The same with `{}`.", member.name));
                let (parameter, value) = self.scope.parameter(self.input.model, field, &member.ty, member.boxed);
                Some(quote! {
                    #docs
                    #[must_use]
                    pub fn #with(mut self, #parameter) -> Self {
                        self.#field = Some(#value);
                        self
                    }
                })
            }
            _ => None,
        }
    }

    fn struct_decode(&self, name: &str, object: &Struct, places: &[Place<'_>]) -> TokenStream {
        let rust = ident(name);
        let locals: Vec<&Ident> = places.iter().map(Place::local).collect();
        let [reader, members, key] = ["reader", "members", "key"].map(|wanted| free_name(wanted, &locals));
        let declarations = locals.iter().map(|local| quote!(let mut #local = None;));
        let arms = places.iter().map(|place| {
            let local = place.local();
            match place {
                Place::Constant { constant, .. } => {
                    let (wire, value) = (&constant.name, scalar(&constant.value));
                    quote!(#wire => #members.read_constant(&mut #local, #wire, #value)?,)
                }
                Place::Member {
                    member:
                        Member {
                            name: wire,
                            required: true,
                            ..
                        },
                    ..
                } => {
                    quote!(#wire => #members.read(&mut #local, #wire)?,)
                }
                Place::Member {
                    member: Member { name: wire, .. },
                    ..
                } => {
                    quote!(#wire => #members.read_optional(&mut #local, #wire)?,)
                }
            }
        });
        let required_constants = places.iter().filter_map(|place| match place {
            Place::Constant { constant, .. } if constant.required => {
                let (local, wire) = (place.local(), &constant.name);
                Some(quote!(#members.require(#local, #wire)?;))
            }
            _ => None,
        });
        let fields = places.iter().filter_map(|place| match place {
            Place::Constant { field: Some(field), .. } => {
                let local = place.local();
                Some(quote!(#field: #local.is_some()))
            }
            Place::Constant { .. } => None,
            Place::Member { member, field, .. } => {
                let wire = &member.name;
                Some(if member.required {
                    quote!(#field: #members.require(#field, #wire)?)
                } else {
                    quote!(#field)
                })
            }
        });
        let extra = extra_field(places);
        debug_assert_eq!(places.len(), object.members.len() + object.constants.len());
        quote! {
            impl mcp_wire::Decode for #rust {
                fn decode(#reader: &mut mcp_wire::Reader<'_>) -> mcp_wire::Decoded<Self> {
                    #(#declarations)*
                    let mut #members = #reader.members()?;
                    while let Some(#key) = #members.key()? {
                        match &*#key {
                            #(#arms)*
                            _ => #members.keep(#key)?,
                        }
                    }
                    #(#required_constants)*
                    Ok(Self { #(#fields,)* #extra: #members.finish()? })
                }
            }
        }
    }

    fn struct_write(&self, name: &str, object: &Struct, places: &[Place<'_>]) -> TokenStream {
        let rust = ident(name);
        let statements: Vec<TokenStream> = places
            .iter()
            .map(|place| match place {
                Place::Constant { constant, field, .. } => {
                    let (wire, value) = (&constant.name, scalar(&constant.value));
                    let write = quote!(members.write_constant(#wire, #value)?;);
                    match field {
                        Some(field) => quote!(if self.#field { #write }),
                        None => write,
                    }
                }
                Place::Member { member, field, .. } => {
                    let wire = &member.name;
                    if member.required {
                        quote!(members.write(#wire, &self.#field)?;)
                    } else {
                        quote!(members.write_optional(#wire, &self.#field)?;)
                    }
                }
            })
            .collect();
        let extra = extra_field(places);
        let unused = (object.members.is_empty() && object.constants.is_empty()).then(|| quote!(let _ = members;));
        quote! {
            impl mcp_wire::Object for #rust {
                fn extra(&self) -> &mcp_wire::Extra {
                    &self.#extra
                }

                fn write_members<M: mcp_wire::serde::ser::SerializeMap>(
                    &self,
                    members: &mut mcp_wire::MemberWriter<'_, M>,
                ) -> ::std::result::Result<(), M::Error> {
                    #unused
                    #(#statements)*
                    Ok(())
                }
            }
        }
    }
}

/// The field for undeclared members: `extra`, unless the schema declares a member of that name.
fn extra_field(places: &[Place<'_>]) -> Ident {
    let taken: Vec<&Ident> = places.iter().map(Place::local).collect();
    free_name("extra", &taken)
}

/// A name that no member has.
fn free_name(wanted: &str, taken: &[&Ident]) -> Ident {
    ident(&crate::model::names::unique(wanted, |name| {
        taken.iter().any(|other| *other == name)
    }))
}

fn with_name(field: &Ident) -> Ident {
    format_ident!(
        "with_{}",
        field.to_string().trim_start_matches("r#").trim_end_matches('_')
    )
}

fn scalar(value: &Scalar) -> TokenStream {
    match value {
        Scalar::String(text) => quote!(#text),
        Scalar::Integer(integer) => {
            let literal = proc_macro2::Literal::i64_suffixed(*integer);
            quote!(#literal)
        }
        Scalar::Boolean(boolean) => quote!(#boolean),
    }
}
