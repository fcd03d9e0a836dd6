//! What results get wrong and is put up with.

use proc_macro2::TokenStream;
use quote::quote;

use super::AdaptersInput;

/// The tables of what is tolerated.
pub(super) fn tolerances(input: &AdaptersInput<'_>) -> TokenStream {
    let lines = input.revisions.iter().flat_map(|revision| {
        let variant = revision.variant();
        let methods = revision.model.methods.iter();
        let methods = methods.filter(|method| !method.tolerances.is_empty());
        methods.map(move |method| {
            let name = &method.name;
            let tolerances = method.tolerances.iter().map(|tolerance| {
                let (member, read) = (&tolerance.member, &tolerance.read);
                let (found, beside) = (optional(&tolerance.found), optional(&tolerance.beside));
                quote!(Tolerance { member: #member, found: #found, beside: #beside, read: #read })
            });
            quote!((Self::#variant, #name) => &[#(#tolerances),*],)
        })
    });
    quote! {
        //! What results get wrong and is put up with.

        use crate::Revision;

        /// A departure in a result that most peers put up with.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Tolerance {
            /// The member of the result.
            pub member: &'static str,
            /// The JSON that stands there; `None` for a member that is absent.
            pub found: Option<&'static str>,
            /// The member without which it isn't tolerated.
            pub beside: Option<&'static str>,
            /// The JSON that it is read as.
            pub read: &'static str,
        }

        impl Revision {
            /// What is tolerated in results of a method. Whoever reads strictly refuses them.
            #[must_use]
            pub fn tolerances(self, method: &str) -> &'static [Tolerance] {
                match (self, method) {
                    #(#lines)*
                    _ => &[],
                }
            }
        }
    }
}

fn optional(text: &Option<String>) -> TokenStream {
    match text {
        Some(text) => quote!(Some(#text)),
        None => quote!(None),
    }
}
