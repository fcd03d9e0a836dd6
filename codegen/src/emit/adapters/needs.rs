//! What a request needs beyond its method, by what it says.

use proc_macro2::TokenStream;
use quote::quote;

use super::AdaptersInput;

/// The tables of what is needed.
pub(super) fn needs(input: &AdaptersInput<'_>) -> TokenStream {
    let lines = input.revisions.iter().flat_map(|revision| {
        let variant = revision.variant();
        let methods = revision.model.methods.iter().filter(|method| !method.needs.is_empty());
        methods.map(move |method| {
            let name = &method.name;
            let needs = method.needs.iter().map(|need| {
                let (member, capability) = (&need.member, &need.capability);
                let value = match &need.value {
                    Some(value) => quote!(Some(#value)),
                    None => quote!(None),
                };
                quote!(Need { member: #member, value: #value, capability: #capability })
            });
            quote!((Self::#variant, #name) => &[#(#needs),*],)
        })
    });
    quote! {
        //! What a request needs beyond its method.

        use crate::Revision;

        /// A capability that a request needs for what it says.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Need {
            /// The member of the request's parameters that needs it.
            pub member: &'static str,
            /// The value of that member, if no other needs it.
            pub value: Option<&'static str>,
            /// The capability of the receiver, as the way from the object of capabilities to a member.
            pub capability: &'static str,
        }

        impl Revision {
            /// What requests of a method need beyond the capability that the method itself needs. A receiver that doesn't
            /// offer it refuses the parameters.
            #[must_use]
            pub fn needs(self, method: &str) -> &'static [Need] {
                match (self, method) {
                    #(#lines)*
                    _ => &[],
                }
            }
        }
    }
}
