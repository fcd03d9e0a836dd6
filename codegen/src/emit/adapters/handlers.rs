//! The traits of handlers and callers: a method of a trait for each method of the hub.

use heck::ToSnakeCase;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::pair::{qualified, union_of};
use super::{AdaptersInput, RevisionInput, mentions};
use crate::emit::messages::{method_variants, result_variants};
use crate::emit::scaffold::formatted;
use crate::emit::tokens::ident;
use crate::emit::{EmitError, source};
use crate::model::{Member, MessageKind, Method, TypeKind, TypeRef, Union, is_internal};

/// The member of a message that its parameters are in.
pub(super) const PARAMS: &str = "params";

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
    let sides = [("Server", "Client"), ("Client", "Server")].map(|(side, other)| Side::new(hub, side, other).traits());
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
        import("mcp_wire", &["ErrorObject", "OpenJson", "UnknownMethod", "error_code"]),
        import("crate", &["hub"]),
    ];
    Ok(source::file(header, [TITLE.to_owned(), imports.concat(), code]))
}

/// The error of a call whose result is another method's.
fn unexpected_result() -> TokenStream {
    quote! {
        /// The result of a call is that of another method.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct UnexpectedResult {
            /// The method that was called.
            pub method: &'static str,
        }

        impl std::fmt::Display for UnexpectedResult {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "the result of {} is that of another method", self.method)
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

/// The handler of one side, and the calls of the other.
pub(super) struct Side<'i> {
    pub(super) hub: &'i RevisionInput<'i>,
    side: &'static str,
    other: &'static str,
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
    function: Ident,
    /// The type of its parameters, and whether they may be absent; `None` for a message that declares none.
    pub(super) params: Option<(TokenStream, bool)>,
    /// Whether the message's constructor asks for them.
    asks_for_params: bool,
    /// The field that they are in.
    pub(super) field: Option<Ident>,
}

impl<'i> Side<'i> {
    fn new(hub: &'i RevisionInput<'i>, side: &'static str, other: &'static str) -> Self {
        let (requests, results) = hub.requests_of(other);
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
    fn traits(&self) -> TokenStream {
        let handler = self.handler();
        let caller = self.caller();
        let pages = self.pages();
        let rounds = self.rounds();
        quote!(#handler #caller #pages #rounds)
    }

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

    fn notifications(&self) -> Option<(Vec<Call<'_>>, Ident)> {
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

    /// What a handler gives for a method, and an expression that makes a result of this side of that.
    fn handled(&self, call: &Call<'_>) -> Option<(TokenStream, TokenStream)> {
        let (usual, variant) = self.result(call.method)?;
        let (results, method) = (ident(&self.results), &call.method.name);
        let Some(any) = &call.method.result_union else {
            return Some((usual, quote!(map(hub::#results::#variant))));
        };
        let (union, ours) = (union_of(self.hub, any)?, self.results());
        let path = qualified("hub", any);
        let arms = variants(union).into_iter().filter_map(|(ty, variant)| {
            let (_, own) = ours.iter().find(|(own, _)| *own == ty)?;
            Some(quote!(#path::#variant(result) => Ok(hub::#results::#own(result)),))
        });
        let arms = quote!(#(#arms)* _ => Err(undeclared_kind(#method)),);
        Some((path, quote!(and_then(|result| match result { #arms }))))
    }

    fn handler(&self) -> TokenStream {
        let (side, other) = (self.side.to_lowercase(), self.other.to_lowercase());
        let name = format_ident!("{}Handler", self.side);
        let results = ident(&self.results);
        let requests = self.requests();
        let notifications = self.notifications();
        let docs = format!(
            " Handles the requests and notifications that a {side} gets from a {other}. `C` is the context of a message."
        );
        let by_itself: Vec<_> = [&requests, &notifications]
            .into_iter()
            .flatten()
            .flat_map(|(calls, _)| calls)
            .filter(|call| !is_for_handlers(call))
            .map(|call| format!("`{}`", call.method.name))
            .collect();
        let by_itself = (!by_itself.is_empty()).then(|| {
            let docs = format!(" A session handles these methods itself: {}.", by_itself.join(", "));
            quote! {
                #[doc = ""]
                #[doc = #docs]
            }
        });
        let request_functions = requests.iter().flat_map(|(calls, _)| calls).filter(is_for_handlers);
        let request_functions = request_functions.filter_map(|call| {
            let (result, _) = self.handled(call)?;
            let (function, method, params) = (&call.function, &call.method.name, call.parameter());
            let docs = format!(" Handles `{method}`.");
            let ignored = call.ignored();
            Some(quote! {
                #[doc = #docs]
                fn #function(&self, #params context: &C) -> impl Future<Output = Result<#result, ErrorObject>> + Send {
                    #ignored
                    async { Err(not_found(#method)) }
                }
            })
        });
        let notification_functions = notifications
            .iter()
            .flat_map(|(calls, _)| calls)
            .filter(is_for_handlers);
        let notification_functions = notification_functions.map(|call| {
            let (function, method, params) = (&call.function, &call.method.name, call.parameter());
            let docs = format!(" Handles `{method}`.");
            let ignored = call.ignored();
            quote! {
                #[doc = #docs]
                fn #function(&self, #params context: &C) -> impl Future<Output = ()> + Send {
                    #ignored
                    async {}
                }
            }
        });
        let answer = requests.as_ref().map(|(calls, unknown)| {
            let union = ident(&self.requests);
            let arms = calls.iter().filter_map(|call| {
                let (_, made) = self.handled(call)?;
                let (variant, function, argument) = (&call.variant, &call.function, call.argument());
                if !is_for_handlers(&call) {
                    let method = &call.method.name;
                    return Some(quote!(hub::#union::#variant(_) => Err(not_found(#method)),));
                }
                let pattern = call.pattern();
                Some(quote! {
                    hub::#union::#variant(#pattern) => {
                        self.#function(#argument context).await.#made
                    }
                })
            });
            quote! {
                /// Handles a request whose method the protocol doesn't declare. The result is any JSON object.
                fn unknown_request(
                    &self,
                    request: UnknownMethod,
                    context: &C,
                ) -> impl Future<Output = Result<OpenJson, ErrorObject>> + Send {
                    let _ = context;
                    async move { Err(not_found(&request.method)) }
                }

                /// Handles a request by the function for its method. This function isn't called for undeclared methods:
                /// [`Self::unknown_request`] is.
                fn handle_request(
                    &self,
                    request: hub::#union,
                    context: &C,
                ) -> impl Future<Output = Result<hub::#results, ErrorObject>> + Send
                where
                    C: Sync,
                {
                    async move {
                        match request {
                            #(#arms)*
                            hub::#union::#unknown(request) => Err(not_found(&request.method)),
                        }
                    }
                }
            }
        });
        let tell = notifications.as_ref().map(|(calls, unknown)| {
            let union = format_ident!("{}Notification", self.other);
            let arms = calls.iter().map(|call| {
                let (variant, function, argument) = (&call.variant, &call.function, call.argument());
                if !is_for_handlers(&call) {
                    return quote!(hub::#union::#variant(_) => {});
                }
                let pattern = call.pattern();
                quote!(hub::#union::#variant(#pattern) => self.#function(#argument context).await,)
            });
            quote! {
                /// Handles a notification whose method the protocol doesn't declare.
                fn on_unknown(&self, notification: UnknownMethod, context: &C) -> impl Future<Output = ()> + Send {
                    let _ = (notification, context);
                    async {}
                }

                /// Handles a notification by the function for its method.
                fn handle_notification(&self, notification: hub::#union, context: &C) -> impl Future<Output = ()> + Send
                where
                    C: Sync,
                {
                    async move {
                        match notification {
                            #(#arms)*
                            hub::#union::#unknown(notification) => self.on_unknown(notification, context).await,
                        }
                    }
                }
            }
        });
        quote! {
            #[doc = #docs]
            #by_itself
            pub trait #name<C>: Send + Sync {
                #(#request_functions)*
                #(#notification_functions)*
                #answer
                #tell
            }
        }
    }

    fn caller(&self) -> TokenStream {
        let (side, other) = (self.side.to_lowercase(), self.other.to_lowercase());
        let name = format_ident!("Call{}", self.side);
        let results = ident(&self.results);
        let (requests, notifications) = (self.requests(), self.notifications());
        let has_others = self.results().len() > 1;
        let docs = format!(" Sends the requests and notifications of a {other} to a {side}.");
        let request = requests.as_ref().map(|_| {
            let union = ident(&self.requests);
            quote! {
                /// Sends a request and waits for its result.
                fn request(
                    &self,
                    request: hub::#union,
                ) -> impl Future<Output = Result<hub::#results, Self::Error>> + Send;
            }
        });
        let notify = notifications.as_ref().map(|_| {
            let union = format_ident!("{}Notification", self.other);
            quote! {
                /// Sends a notification.
                fn notify(&self, notification: hub::#union) -> impl Future<Output = Result<(), Self::Error>> + Send;
            }
        });
        let request_functions = requests.iter().flat_map(|(calls, _)| calls).filter_map(|call| {
            let (result, variant) = self.result(call.method)?;
            let (function, method, params) = (&call.function, &call.method.name, call.parameter());
            let (message, docs) = (call.message(), format!(" Calls `{method}`."));
            let unexpected = has_others.then(|| quote!(_ => Err(unexpected(#method)),));
            Some(quote! {
                #[doc = #docs]
                fn #function(&self, #params) -> impl Future<Output = Result<#result, Self::Error>> + Send {
                    async move {
                        #message
                        match self.request(message.into()).await? {
                            hub::#results::#variant(result) => Ok(result),
                            #unexpected
                        }
                    }
                }
            })
        });
        let notification_functions = notifications.iter().flat_map(|(calls, _)| calls).map(|call| {
            let stem = call.function.to_string();
            let function = format_ident!("notify_{}", stem.trim_start_matches("on_"));
            let (method, params, message) = (&call.method.name, call.parameter(), call.message());
            let docs = format!(" Sends `{method}`.");
            quote! {
                #[doc = #docs]
                fn #function(&self, #params) -> impl Future<Output = Result<(), Self::Error>> + Send {
                    async move {
                        #message
                        self.notify(message.into()).await
                    }
                }
            }
        });
        quote! {
            #[doc = #docs]
            pub trait #name: Sync {
                /// The error of a call.
                type Error: From<UnexpectedResult>;

                #request
                #notify
                #(#request_functions)*
                #(#notification_functions)*
            }
        }
    }
}

/// The types of a union's variants, each with its variant.
fn variants(union: &Union) -> Vec<(TypeRef, Ident)> {
    let variants = union.variants.iter();
    variants
        .map(|variant| (variant.ty.clone(), ident(&variant.name)))
        .collect()
}

/// Whether a session leaves the method to its handler.
fn is_for_handlers(call: &&Call<'_>) -> bool {
    !call.method.role.as_deref().is_some_and(is_internal)
}

impl Call<'_> {
    /// The parameter of a function that takes the message's parameters.
    fn parameter(&self) -> Option<TokenStream> {
        self.params.as_ref().map(|(ty, optional)| {
            if *optional {
                quote!(params: Option<#ty>,)
            } else {
                quote!(params: #ty,)
            }
        })
    }

    /// A statement for a function that does nothing with its arguments.
    fn ignored(&self) -> TokenStream {
        match &self.params {
            Some(_) => quote!(let _ = (params, context);),
            None => quote!(let _ = context;),
        }
    }

    fn argument(&self) -> Option<TokenStream> {
        let field = self.field.as_ref()?;
        Some(quote!(message.#field,))
    }

    fn pattern(&self) -> TokenStream {
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
