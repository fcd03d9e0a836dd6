//! Paginated lists, recognised by the shape of their types.

use serde_json::{Value, json};

use super::side::{Call, Side};
use crate::emit::names::qualified;
use crate::model::{Member, Struct, TypeRef};

/// The field of a request with the cursor of its page.
const CURSOR: &str = "cursor";
/// The field of a result with the cursor of the next page. If a revision gives the member another name, its overlay
/// keeps the field's.
const NEXT_CURSOR: &str = "next_cursor";

/// A method whose result is one page of a list.
struct Listing<'i> {
    call: &'i Call<'i>,
    params: &'i TypeRef,
    items: &'i Member,
    item: &'i TypeRef,
}

impl Side<'_> {
    /// Returns the template's values for each type of item that this side lists.
    ///
    /// Types that several methods list are left out: the type wouldn't identify the list.
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

    /// Whether a type has an optional string in a field of this name.
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
