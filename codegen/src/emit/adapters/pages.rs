//! Lists that come in pages, told by their shape.

use serde_json::{Value, json};

use super::side::{Call, Side};
use crate::emit::names::qualified;
use crate::model::{Member, Struct, TypeRef};

/// The field in which a request says where its page begins.
const CURSOR: &str = "cursor";
/// The field in which a result says where the next page begins. A revision that gives the member another name keeps the field's
/// by its overlay.
const NEXT_CURSOR: &str = "next_cursor";

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
    pub(super) fn pages(&self, calls: &[Call<'_>]) -> Vec<Value> {
        let listings: Vec<Listing<'_>> = calls.iter().filter_map(|call| self.listing(call)).collect();
        let is_alone = |listing: &&Listing<'_>| listings.iter().filter(|other| other.item == listing.item).count() == 1;
        let pages = listings.iter().filter(is_alone);
        pages.filter_map(|listing| self.page(listing)).collect()
    }

    fn listing<'i>(&'i self, call: &'i Call<'i>) -> Option<Listing<'i>> {
        let model = self.model;
        let params = self.params(call)?;
        let asked = model.struct_of(params)?;
        let usual = call.method.results.first()?;
        let result = model.struct_of(usual)?;
        let items = |member: &'i Member| match model.resolve(&member.ty) {
            TypeRef::List(item) => Some((member, model.resolve(item))),
            _ => None,
        };
        let mut lists = result.members.iter().filter_map(items);
        let is_page = asked.members.iter().all(|member| !member.is_argument())
            && self.has_text(params, asked, CURSOR)
            && self.has_text(usual, result, NEXT_CURSOR);
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

    /// Whether a type has a field for an optional string.
    fn has_text(&self, ty: &TypeRef, object: &Struct, field: &str) -> bool {
        let mut members = object.members.iter();
        members.any(|member| {
            !member.required
                && *self.model.resolve(&member.ty) == TypeRef::String
                && self.field(ty, &member.name).as_deref() == Some(field)
        })
    }

    fn page(&self, listing: &Listing<'_>) -> Option<Value> {
        let call = listing.call;
        let result = call.method.results.first()?;
        Some(json!({
            "item": qualified(listing.item),
            "literal": call.literal,
            "message": call.message,
            "params": qualified(listing.params),
            "optional": call.optional,
            "cursor": CURSOR,
            "variant": call.result.as_ref()?.variant,
            "items": self.field(result, &listing.items.name)?,
            "required": listing.items.required,
            "next": NEXT_CURSOR,
        }))
    }
}
