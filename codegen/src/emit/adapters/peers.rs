//! A peer of any revision: its messages as the hub's, and the hub's as its own.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{AdaptersInput, RevisionInput, import};
use crate::emit::tokens::ident;
use crate::model::TypeKind;

/// Functions that match on the revision of a peer.
pub(super) fn peers(input: &AdaptersInput<'_>) -> TokenStream {
    let Some(hub) = input.revision(input.hub) else {
        return TokenStream::new();
    };
    let sides = ["Client", "Server"].map(|side| {
        let messages = messages(input, hub, side);
        let results = results(input, hub, side);
        quote!(#messages #results)
    });
    let sides = quote!(#(#sides)*);
    let text = sides.to_string();
    let peer = [
        "FromPeer",
        "FromResult",
        "Translated",
        "encoded",
        "received",
        "same",
        "translated",
    ];
    let imports = [
        import(&quote!(mcp_wire), &text, &["Batch", "Decoded", "Message", "OpenJson"]),
        import(
            &quote!(crate::conversion),
            &text,
            &["Conversion", "Loss", "Policy", "Unrepresentable"],
        ),
        import(&quote!(crate::peer), &text, &peer),
    ];
    quote! {
        //! Messages from and for peers of every revision.
        //!
        //! Handlers are written against the hub's types; these functions are where other revisions come in. For a peer
        //! that speaks the hub's revision they only decode and encode.

        #(#imports)*
        use crate::Revision;

        #sides
    }
}

fn messages(input: &AdaptersInput<'_>, hub: &RevisionInput<'_>, side: &str) -> TokenStream {
    let who = side.to_lowercase();
    let hub_message = message(hub, side);
    let from_docs = format!(" What a {who} of revision `peer` sent, as messages of the hub.");
    let for_docs = format!(" A message of the hub, as a {who} of revision `peer` would send it.");
    let (from, to) = (format_ident!("{who}_message"), format_ident!("{who}_message_for"));
    let received = input.revisions.iter().map(|revision| {
        let (variant, own) = (revision.variant(), message(revision, side));
        let convert = if is_hub(input, revision) {
            quote!(same)
        } else {
            quote!(translated)
        };
        let batches = revision.model.batches;
        quote!(Revision::#variant => received(json, #batches, |message: #own| #convert(message, policy)),)
    });
    let sent = input.revisions.iter().map(|revision| {
        let variant = revision.variant();
        if is_hub(input, revision) {
            return quote!(Revision::#variant => encoded(same(message, policy)),);
        }
        let target = message(revision, side);
        quote!(Revision::#variant => encoded(translated::<_, _, #target>(message, policy)),)
    });
    quote! {
        #[doc = #from_docs]
        ///
        /// # Errors
        /// When the bytes aren't JSON, or a single message that is none of that revision. Whatever else is wrong has an
        /// outcome in what is returned: a message that the hub can't represent, an element of a batch that is no
        /// message, an empty batch, and one where the revision has none.
        pub fn #from(peer: Revision, json: &[u8], policy: Policy) -> Decoded<Batch<Translated<#hub_message>>> {
            match peer {
                #(#received)*
            }
        }

        #[doc = #for_docs]
        #[must_use]
        pub fn #to(peer: Revision, message: #hub_message, policy: Policy) -> Translated<Vec<u8>> {
            match peer {
                #(#sent)*
            }
        }
    }
}

fn results(input: &AdaptersInput<'_>, hub: &RevisionInput<'_>, side: &str) -> Option<TokenStream> {
    let who = side.to_lowercase();
    let union = format!("{side}Result");
    let hub_result = result(hub, &union)?;
    let from_docs = format!(
        " What a {who} of revision `peer` answered to `method`, as a result of the hub; `None` for an unknown method."
    );
    let for_docs = format!(" A result of the hub, as a {who} of revision `peer` would give it.");
    let (from, to) = (format_ident!("{who}_result"), format_ident!("{who}_result_for"));
    let received = input.revisions.iter().map(|revision| {
        let variant = revision.variant();
        match result(revision, &union) {
            Some(own) if is_hub(input, revision) => quote!(Revision::#variant => #own::decode(method, result)?,),
            Some(own) => quote! {
                Revision::#variant => match #own::decode(method, result)? {
                    Some(result) => Some(conversion.convert(result)?),
                    None => None,
                },
            },
            None => quote!(Revision::#variant => None,),
        }
    });
    let sent = input.revisions.iter().map(|revision| {
        let variant = revision.variant();
        match result(revision, &union) {
            Some(_) if is_hub(input, revision) => quote!(Revision::#variant => crate::conversion::open(&result)?,),
            Some(own) => {
                quote!(Revision::#variant => crate::conversion::open(&conversion.convert::<_, #own>(result)?)?,)
            }
            None => quote!(Revision::#variant => crate::conversion::open(&result)?,),
        }
    });
    Some(quote! {
        #[doc = #from_docs]
        ///
        /// # Errors
        /// When it is no result of the method, or the hub can't represent it.
        pub fn #from(
            peer: Revision,
            method: &str,
            result: &OpenJson,
            policy: Policy,
        ) -> Result<Option<FromResult<#hub_result>>, FromPeer> {
            let mut conversion = Conversion::new(policy);
            let result = match peer {
                #(#received)*
            };
            Ok(result.map(|result| FromResult { result, losses: conversion.into_losses() }))
        }

        #[doc = #for_docs]
        ///
        /// # Errors
        /// When that revision can't represent it.
        pub fn #to(
            peer: Revision,
            result: #hub_result,
            policy: Policy,
        ) -> Result<(OpenJson, Vec<Loss>), Unrepresentable> {
            let mut conversion = Conversion::new(policy);
            let json = match peer {
                #(#sent)*
            };
            Ok((json, conversion.into_losses()))
        }
    })
}

fn is_hub(input: &AdaptersInput<'_>, revision: &RevisionInput<'_>) -> bool {
    revision.model.revision == input.hub
}

/// One message that a side may send.
fn message(revision: &RevisionInput<'_>, side: &str) -> TokenStream {
    let module = &revision.module;
    let union = |kind: &str| {
        let name = format!("{side}{kind}");
        match revision.model.types.get(&name).map(|ty| &ty.kind) {
            Some(TypeKind::Methods(_)) => {
                let name = ident(&name);
                quote!(crate::#module::#name)
            }
            _ => quote!(mcp_wire::UnknownMethod),
        }
    };
    let (requests, notifications) = (union("Request"), union("Notification"));
    quote!(Message<#requests, #notifications>)
}

fn result(revision: &RevisionInput<'_>, union: &str) -> Option<TokenStream> {
    let module: &Ident = &revision.module;
    match revision.model.types.get(union).map(|ty| &ty.kind) {
        Some(TypeKind::Results(_)) => {
            let name = ident(union);
            Some(quote!(crate::#module::#name))
        }
        _ => None,
    }
}
