//! The handler of a side: a trait with a function for each message that it gets.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::side::{Call, Side, is_for_handlers, variants};
use super::types::{qualified, results_of, union_of};
use crate::emit::messages::method_results;
use crate::emit::tokens::ident;
use crate::model::TypeRef;

/// The messages of a union, and its variant for those that it doesn't declare.
type Calls<'c> = (Vec<Call<'c>>, Ident);

impl Side<'_> {
    pub(super) fn handler(&self) -> TokenStream {
        let (side, other) = (self.side.to_lowercase(), self.other.to_lowercase());
        let name = format_ident!("{}Handler", self.side);
        let docs = format!(
            " Handles the requests and notifications that a {side} gets from a {other}. `C` is the context of a message."
        );
        let (requests, notifications) = (self.requests(), self.notifications());
        let by_itself = handled_by_the_session(requests.as_ref(), notifications.as_ref());
        let request_functions = requests.as_ref().map(|(calls, _)| self.request_functions(calls));
        let notification_functions = notifications.as_ref().map(|(calls, _)| notification_functions(calls));
        let handle_request = requests.as_ref().map(|requests| self.handle_request(requests));
        let handle_notification = notifications.as_ref().map(|calls| self.handle_notification(calls));
        quote! {
            #[doc = #docs]
            #by_itself
            pub trait #name<C>: Send + Sync {
                #request_functions
                #notification_functions
                #handle_request
                #handle_notification
            }

            /// Handles nothing: requests are answered with the error -32601, and notifications are ignored.
            impl<C> #name<C> for () {}
        }
    }

    fn request_functions(&self, calls: &[Call<'_>]) -> TokenStream {
        let functions = calls.iter().filter(is_for_handlers).filter_map(|call| {
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
        quote!(#(#functions)*)
    }

    fn handle_request(&self, (calls, unknown): &Calls<'_>) -> TokenStream {
        let results = ident(&self.results);
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
            ) -> impl Future<Output = Result<RawJson, ErrorObject>> + Send {
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
    }

    fn handle_notification(&self, (calls, unknown): &Calls<'_>) -> TokenStream {
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
    }

    /// What a handler gives for a method, and an expression that makes a result of this side of that.
    fn handled(&self, call: &Call<'_>) -> Option<(TokenStream, TokenStream)> {
        let (usual, variant) = self.result(call.method)?;
        let (results, method) = (ident(&self.results), &call.method.name);
        let Some(any) = &call.method.result_union else {
            return Some((usual, quote!(map(hub::#results::#variant))));
        };
        let path = qualified("hub", any);
        if results_of(self.hub, &TypeRef::Named(self.results.clone()))
            .is_some_and(|all| method_results(self.hub.model, call.method, all).is_some())
        {
            return Some((path, quote!(map(Into::into))));
        }
        let (union, ours) = (union_of(self.hub, any)?, self.results());
        let arms = variants(union).into_iter().filter_map(|(ty, variant)| {
            let (_, own) = ours.iter().find(|(own, _)| *own == ty)?;
            Some(quote!(#path::#variant(result) => Ok(hub::#results::#own(result)),))
        });
        let made = quote!(and_then(|result| match result { #(#arms)* _ => Err(undeclared_kind(#method)), }));
        Some((path, made))
    }
}

/// The documentation of the methods that the session handles itself.
fn handled_by_the_session(requests: Option<&Calls<'_>>, notifications: Option<&Calls<'_>>) -> Option<TokenStream> {
    let by_itself: Vec<_> = [requests, notifications]
        .into_iter()
        .flatten()
        .flat_map(|(calls, _)| calls)
        .filter(|call| !is_for_handlers(call))
        .map(|call| format!("`{}`", call.method.name))
        .collect();
    (!by_itself.is_empty()).then(|| {
        let docs = format!(" A session handles these methods itself: {}.", by_itself.join(", "));
        quote! {
            #[doc = ""]
            #[doc = #docs]
        }
    })
}

fn notification_functions(calls: &[Call<'_>]) -> TokenStream {
    let functions = calls.iter().filter(is_for_handlers).map(|call| {
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
    quote!(#(#functions)*)
}
