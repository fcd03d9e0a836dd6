//! The caller of a side: a trait with a function for each message that the other side sends it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::side::Side;
use crate::emit::tokens::ident;

impl Side<'_> {
    pub(super) fn caller(&self) -> TokenStream {
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
