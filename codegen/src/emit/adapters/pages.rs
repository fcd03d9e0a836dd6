//! Lists that come in pages, told by their shape.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::side::{Call, PARAMS, Side};
use super::types::qualified;
use crate::emit::tokens::ident;
use crate::model::{Member, Struct, TypeRef};

/// What a request says where its page begins with.
const CURSOR: &str = "cursor";
/// What a result says where the next page begins with.
const NEXT_CURSOR: &str = "nextCursor";

/// A method whose result is one page of a list.
struct Listing<'i> {
    call: &'i Call<'i>,
    params: &'i TypeRef,
    items: &'i Member,
    item: &'i TypeRef,
}

impl Side<'_> {
    /// How each item that this side lists is asked for.
    ///
    /// An item that several methods list isn't among them: it alone wouldn't say which list is meant.
    pub(super) fn pages(&self) -> Option<TokenStream> {
        let (calls, _) = self.requests()?;
        let listings: Vec<Listing<'_>> = calls.iter().filter_map(|call| self.listing(call)).collect();
        let is_alone = |listing: &&Listing<'_>| listings.iter().filter(|other| other.item == listing.item).count() == 1;
        let implementations = listings
            .iter()
            .filter(is_alone)
            .filter_map(|listing| self.page(listing));
        Some(quote!(#(#implementations)*))
    }

    fn listing<'i>(&'i self, call: &'i Call<'i>) -> Option<Listing<'i>> {
        let model = self.hub.model;
        let params = self.params(call)?;
        let asked = model.struct_of(params)?;
        let result = model.struct_of(call.method.results.first()?)?;
        let items = |member: &'i Member| match model.resolve(&member.ty) {
            TypeRef::List(item) => Some((member, model.resolve(item))),
            _ => None,
        };
        let mut lists = result.members.iter().filter_map(items);
        let is_page = asked.members.iter().all(|member| !member.is_argument())
            && self.has_text(asked, CURSOR)
            && self.has_text(result, NEXT_CURSOR);
        match (lists.next(), lists.next()) {
            (Some((items, item @ TypeRef::Named(_))), None) if is_page => Some(Listing {
                call,
                params,
                items,
                item,
            }),
            _ => None,
        }
    }

    /// The type of a call's parameters.
    pub(super) fn params(&self, call: &Call<'_>) -> Option<&TypeRef> {
        let message = self.hub.model.struct_of(&TypeRef::Named(call.method.ty.clone()))?;
        let mut members = message.members.iter();
        Some(&members.find(|member| member.name == PARAMS)?.ty)
    }

    /// Whether there is an optional member that is a string.
    fn has_text(&self, object: &Struct, name: &str) -> bool {
        let mut members = object.members.iter();
        members.any(|member| {
            member.name == name && !member.required && *self.hub.model.resolve(&member.ty) == TypeRef::String
        })
    }

    /// The field of a member.
    pub(super) fn field(&self, ty: &TypeRef, member: &str) -> Option<Ident> {
        let TypeRef::Named(name) = self.hub.model.resolve(ty) else {
            return None;
        };
        self.hub.items.structure(name)?.fields.get(member).cloned()
    }

    fn page(&self, listing: &Listing<'_>) -> Option<TokenStream> {
        let call = listing.call;
        let (requests, results) = (ident(&self.requests), ident(&self.results));
        let result = call.method.results.first()?;
        let (_, variant) = self.result(call.method)?;
        let (items, next) = (
            self.field(result, &listing.items.name)?,
            self.field(result, NEXT_CURSOR)?,
        );
        let cursor = self.field(listing.params, CURSOR)?;
        let (item, method) = (qualified("hub", listing.item), &call.method.name);
        let (params, optional) = call.params.as_ref()?;
        let wrapped = optional.then(|| quote!(let params = Some(params);));
        let message = call.message();
        let items = if listing.items.required {
            quote!(result.#items)
        } else {
            quote!(result.#items.unwrap_or_default())
        };
        let unexpected = (self.results().len() > 1).then(|| quote!(_ => Err(UnexpectedResult { method: #method }),));
        Some(quote! {
            impl Paginated<hub::#requests, hub::#results> for #item {
                fn page(#cursor: Option<String>) -> hub::#requests {
                    let params = #params { #cursor, ..#params::default() };
                    #wrapped
                    #message
                    message.into()
                }

                fn items(result: hub::#results) -> Result<(Vec<Self>, Option<String>), UnexpectedResult> {
                    match result {
                        hub::#results::#variant(result) => Ok((#items, result.#next)),
                        #unexpected
                    }
                }
            }
        })
    }
}
