//! Strings with known values, and aliases.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::Emitter;
use super::tokens::ident;
use crate::model::names::{UNKNOWN, unique};
use crate::model::{Type, TypeRef};

/// The variant that holds a value that isn't among the known ones.
pub(super) fn unknown_value(variants: &BTreeMap<String, Ident>) -> Ident {
    ident(&unique(UNKNOWN, |name| {
        variants.values().any(|variant| variant == name)
    }))
}

impl Emitter<'_> {
    /// An enumeration that also holds what it doesn't know.
    pub(super) fn strings(&self, name: &str, ty: &Type, values: &[String], ordered: bool) -> TokenStream {
        let Some(variants) = self.shells.strings(name) else {
            return TokenStream::new();
        };
        let rust = ident(name);
        let docs = self.documenter.ty(ty);
        let order = ordered.then(|| quote!(, PartialOrd, Ord));
        let known: Vec<_> = values
            .iter()
            .filter_map(|value| Some((value, variants.get(value)?)))
            .collect();
        let declared = known.iter().map(|(value, variant)| {
            let docs = self.documenter.member(ty, value, None);
            quote!(#docs #variant)
        });
        let unknown = unknown_value(variants);
        let texts = known.iter().map(|(value, variant)| quote!(Self::#variant => #value));
        let matches = known.iter().map(|(value, variant)| quote!(#value => Self::#variant));
        let [string, from] = ["String", "From"].map(|name| self.scope.std(name));
        let pointer = &ty.pointer;
        quote! {
            #docs
            #[derive(Debug, Clone, PartialEq, Eq, Hash #order)]
            pub enum #rust {
                #(#declared,)*
                /// A value that the revision doesn't declare, as it came.
                #unknown(#string),
            }

            impl #rust {
                /// The value as it is written.
                #[must_use]
                pub fn as_str(&self) -> &str {
                    match self {
                        #(#texts,)*
                        Self::#unknown(value) => value,
                    }
                }
            }

            impl #from<&str> for #rust {
                fn from(value: &str) -> Self {
                    match value {
                        #(#matches,)*
                        other => Self::#unknown(other.to_owned()),
                    }
                }
            }

            impl #from<#string> for #rust {
                fn from(value: #string) -> Self {
                    Self::from(value.as_str())
                }
            }

            impl ::std::fmt::Display for #rust {
                fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                    f.write_str(self.as_str())
                }
            }

            impl mcp_wire::Decode for #rust {
                fn decode(reader: &mut mcp_wire::Reader<'_>) -> mcp_wire::Decoded<Self> {
                    reader.string().map(|value| Self::from(&*value))
                }
            }

            impl mcp_wire::serde::Serialize for #rust {
                fn serialize<S: mcp_wire::serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> ::std::result::Result<S::Ok, S::Error> {
                    serializer.serialize_str(self.as_str())
                }
            }
            mcp_wire::deserialize_by_decoding!(#rust);
            crate::schema::judged!(#rust, #pointer);
        }
    }

    /// Another name for a type.
    pub(super) fn alias(&self, name: &str, ty: &Type, target: &TypeRef) -> TokenStream {
        let docs = self.documenter.ty(ty);
        let rust = ident(name);
        let target = self.scope.ty(target);
        quote! {
            #docs
            pub type #rust = #target;
        }
    }
}
