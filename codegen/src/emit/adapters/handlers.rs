//! The traits of handlers and callers: a method of a trait for each method of the hub.

use proc_macro2::TokenStream;
use quote::quote;

use super::input::AdaptersInput;
use super::names::mentions;
use super::side::Side;
use crate::emit::error::EmitError;
use crate::emit::scaffold::formatted;
use crate::emit::source;

const TITLE: &str = "\
//! The handlers and the typed calls of servers and clients, in the types of the hub.
//!
//! Implement [`ServerHandler`] or [`ClientHandler`] to handle messages. A request whose method isn't implemented is answered
//! with the error -32601, and such a notification is ignored. Implement [`CallServer`] or [`CallClient`] to get a typed method for
//! each message that can be sent.
";

/// The file of the traits of both sides.
pub(super) fn handlers(input: &AdaptersInput<'_>, header: &str) -> Result<String, EmitError> {
    let Some(hub) = input.revision(input.hub) else {
        return Ok(source::file(header, [TITLE.to_owned()]));
    };
    let sides = [("Server", "Client"), ("Client", "Server")].map(|(side, other)| {
        let side = Side::new(hub, side, other);
        let (handler, caller, pages, rounds) = (side.handler(), side.caller(), side.pages(), side.rounds());
        quote!(#handler #caller #pages #rounds)
    });
    let sides = quote!(#(#sides)*);
    let error = unexpected_result();
    let not_found = mentions(&sides.to_string(), "not_found").then(|| {
        quote! {
            fn not_found(method: &str) -> ErrorObject {
                ErrorObject::new(error_code::METHOD_NOT_FOUND, format!("there is no method {method}"))
            }
        }
    });
    let unexpected = mentions(&sides.to_string(), "unexpected").then(|| {
        quote! {
            fn unexpected<E: From<UnexpectedResult>>(method: &'static str) -> E {
                UnexpectedResult { method }.into()
            }
        }
    });
    let undeclared = mentions(&sides.to_string(), "undeclared_kind").then(|| {
        quote! {
            fn undeclared_kind(method: &str) -> ErrorObject {
                let message = format!("the result is of a kind that {method} doesn't declare");
                ErrorObject::new(error_code::INTERNAL_ERROR, message)
            }
        }
    });
    let paginated = mentions(&sides.to_string(), "Paginated").then(paginated);
    let code = quote!(#error #unexpected #not_found #undeclared #paginated #sides);
    let code = formatted("handlers.rs", code)?;
    let import = |path: &str, names: &[&str]| {
        let used = names.iter().filter(|name| mentions(&code, name));
        source::import(path, &used.map(|name| (*name).to_owned()).collect())
    };
    let imports = [
        import("std::future", &["Future"]),
        import("mcp_wire", &["ErrorObject", "RawJson", "UnknownMethod", "error_code"]),
        import("crate", &["hub"]),
    ];
    Ok(source::file(header, [TITLE.to_owned(), imports.concat(), code]))
}

/// The error of a call whose result is another method's.
fn unexpected_result() -> TokenStream {
    quote! {
        /// The result of a call is none of those that its method declares.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct UnexpectedResult {
            /// The method that was called.
            pub method: &'static str,
        }

        impl std::fmt::Display for UnexpectedResult {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "the result is none of those that {} declares", self.method)
            }
        }

        impl std::error::Error for UnexpectedResult {}
    }
}

/// The trait of what is listed.
fn paginated() -> TokenStream {
    quote! {
        /// An item of a paginated list, with the request for a page and the items of its result.
        pub trait Paginated<Request, Results>: Sized {
            /// The request for the page at a cursor, or for the first page.
            fn page(cursor: Option<String>) -> Request;

            /// The items of a page, and the cursor of the next page if there is one.
            ///
            /// # Errors
            /// The result is that of another method.
            fn items(result: Results) -> Result<(Vec<Self>, Option<String>), UnexpectedResult>;
        }
    }
}
