//! Where each revision's schema defines what its methods send and give back.

use proc_macro2::TokenStream;
use quote::quote;

use super::{AdaptersInput, RevisionInput};
use crate::model::TypeRef;

/// The tables that a peer's messages are judged by.
pub(super) fn judged(input: &AdaptersInput<'_>) -> TokenStream {
    let schemas = input.revisions.iter().map(|revision| {
        let (variant, module) = (revision.variant(), &revision.module);
        let lines = lines(revision);
        quote! {
            Revision::#variant => &Schema { judge: crate::#module::schema::judge, judged: &[#(#lines),*] },
        }
    });
    let judged = input
        .revisions
        .iter()
        .any(|revision| !revision.model.methods.is_empty());
    let imports = if judged { quote!(Judged, Schema) } else { quote!(Schema) };
    quote! {
        //! Where the messages of each revision are defined.

        use crate::Revision;
        use crate::judging::{#imports};

        pub(crate) fn judged(revision: Revision) -> &'static Schema {
            match revision {
                #(#schemas)*
            }
        }
    }
}

fn lines(revision: &RevisionInput<'_>) -> Vec<TokenStream> {
    let types = &revision.model.types;
    let lines = revision.model.methods.iter().filter_map(|method| {
        let name = &method.name;
        let call = &types.get(&method.ty)?.pointer;
        let pointer = |result: &TypeRef| match result {
            TypeRef::Named(name) => Some(types.get(name)?.pointer.as_str()),
            _ => None,
        };
        // One form that may be anything is enough for all of them to be.
        let results = method.results.iter().map(pointer).collect::<Option<Vec<&str>>>();
        let results = results.unwrap_or_default();
        Some(quote!(Judged { method: #name, call: #call, results: &[#(#results),*] }))
    });
    lines.collect()
}
