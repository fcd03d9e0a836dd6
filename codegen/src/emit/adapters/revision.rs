//! The enum of revisions.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{AdaptersInput, RevisionInput, variant_name};
use crate::emit::tokens::ident;

/// The request that begins a session, in revisions that have one: the lifecycle is told by it.
const INITIALIZE: &str = "initialize";

fn facts(revision: &RevisionInput<'_>) -> TokenStream {
    let released = revision.released;
    let batches = revision.model.batches;
    let errors_without_id = revision.model.errors_without_id;
    let initializes = revision.model.methods.iter().any(|method| method.name == INITIALIZE);
    let version_header = revision.facts.version_header.unwrap_or_default();
    let sessions = revision.facts.sessions.unwrap_or_default();
    let polling = revision.facts.polling.unwrap_or_default();
    let input_errors_as_results = revision.facts.input_errors_as_results.unwrap_or_default();
    quote! {
        Facts {
            released: #released,
            batches: #batches,
            errors_without_id: #errors_without_id,
            initializes: #initializes,
            version_header: #version_header,
            sessions: #sessions,
            polling: #polling,
            input_errors_as_results: #input_errors_as_results,
        }
    }
}

pub(super) fn revision_enum(input: &AdaptersInput<'_>) -> TokenStream {
    let names: Vec<&str> = input
        .revisions
        .iter()
        .map(|revision| revision.model.revision.as_str())
        .collect();
    let variants: Vec<_> = input.revisions.iter().map(RevisionInput::variant).collect();
    let modules: Vec<_> = input.revisions.iter().map(|revision| &revision.module).collect();
    let docs = names.iter().map(|name| format!(" Revision {name}."));
    let facts = input.revisions.iter().map(facts);
    let hub = ident(&variant_name(input.hub));
    let latest = variants.last();
    let count = Literal::usize_unsuffixed(names.len());
    quote! {
        //! The revisions by name and in order.

        use std::fmt;
        use std::str::FromStr;

        /// A revision of the protocol. The order is the protocol's, not that of the names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(non_camel_case_types, reason = "the names are dates")]
        pub enum Revision {
            #(#[doc = #docs] #variants,)*
        }

        impl Revision {
            /// Every revision, the earliest first.
            pub const ALL: [Self; #count] = [#(Self::#variants),*];
            /// The latest revision.
            pub const LATEST: Self = Self::#latest;
            /// The revision that handlers are written against.
            pub const HUB: Self = Self::#hub;

            /// The revision as peers name it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    #(Self::#variants => #names,)*
                }
            }

            /// The revision's methods.
            #[must_use]
            pub const fn methods(self) -> &'static [mcp_wire::Method] {
                match self {
                    #(Self::#variants => crate::#modules::METHODS,)*
                }
            }

            /// What is true of the revision as a whole.
            #[must_use]
            pub const fn facts(self) -> Facts {
                match self {
                    #(Self::#variants => #facts,)*
                }
            }

            /// The revision's schema.
            #[must_use]
            pub const fn schema(self) -> &'static mcp_wire::Schema {
                match self {
                    #(Self::#variants => &crate::#modules::SCHEMA,)*
                }
            }

            /// The revision's own method of this name.
            #[must_use]
            pub fn method(self, name: &str) -> Option<&'static mcp_wire::Method> {
                self.methods().iter().find(|method| method.name == name)
            }

            /// The definitions of the revision's schema, by name.
            #[cfg(feature = "definitions")]
            #[must_use]
            pub const fn definitions(self) -> &'static [mcp_wire::Definition] {
                match self {
                    #(Self::#variants => crate::#modules::definitions::DEFINITIONS,)*
                }
            }
        }

        /// What is true of a revision as a whole.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Facts {
            /// It is no draft.
            pub released: bool,
            /// Peers may send several messages in one array.
            pub batches: bool,
            /// An error response may lack the id. In the other revisions there is no error for a message whose id can't
            /// be read.
            pub errors_without_id: bool,
            /// A session begins with the request `initialize`.
            pub initializes: bool,
            /// HTTP requests name the negotiated revision in a header.
            pub version_header: bool,
            /// HTTP servers may give each client a session id.
            pub sessions: bool,
            /// HTTP clients expect an event without a message at the beginning of a stream, to come back by.
            pub polling: bool,
            /// A call of a tool with invalid arguments gets a result with `isError`, which a model can read, instead of an
            /// error.
            pub input_errors_as_results: bool,
        }

        impl fmt::Display for Revision {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl mcp_wire::serde::Serialize for Revision {
            fn serialize<S: mcp_wire::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> mcp_wire::serde::Deserialize<'de> for Revision {
            fn deserialize<D: mcp_wire::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <std::borrow::Cow<'de, str> as mcp_wire::serde::Deserialize>::deserialize(deserializer)?;
                name.parse().map_err(mcp_wire::serde::de::Error::custom)
            }
        }

        impl FromStr for Revision {
            type Err = UnknownRevision;

            fn from_str(name: &str) -> Result<Self, UnknownRevision> {
                Self::ALL
                    .into_iter()
                    .find(|revision| revision.as_str() == name)
                    .ok_or_else(|| UnknownRevision { name: name.to_owned() })
            }
        }

        /// A name that no revision has.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct UnknownRevision {
            /// The name.
            pub name: String,
        }

        impl fmt::Display for UnknownRevision {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let known = Revision::ALL.map(Revision::as_str).join(", ");
                write!(f, "there is no revision {:?}; there are {known}", self.name)
            }
        }

        impl std::error::Error for UnknownRevision {}
    }
}
