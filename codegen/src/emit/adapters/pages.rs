//! Paginated lists, recognised by the shape of their types.

use serde_json::{Value, json};

use super::side::{Call, Side};
use crate::emit::names::qualified;
use crate::model::{Struct, TypeRef};

/// The field of a request with the cursor of its page.
const CURSOR: &str = "cursor";
/// The field of a result with the cursor of the next page. If a revision gives the member another name, its overlay
/// keeps the field's.
const NEXT_CURSOR: &str = "next_cursor";

impl Side<'_> {
    /// Returns the template's values for each type of item that this side lists.
    ///
    /// Types that several methods list are left out: the type wouldn't identify the list.
    pub(super) fn pages(&self, calls: &[Call<'_>]) -> Vec<Value> {
        let mut pages: Vec<Value> = calls.iter().filter_map(|call| self.page(call)).collect();
        let items = Vec::from_iter(pages.iter().map(|page| page["item"].clone()));
        pages.retain(|page| items.iter().filter(|item| **item == page["item"]).count() == 1);
        pages
    }

    /// Recognises a method whose result is one page of a list. Returns the template's values.
    fn page(&self, call: &Call<'_>) -> Option<Value> {
        let model = self.model;
        let params = &call.params?.ty;
        let asked = model.struct_of(params)?;
        let usual = call.method.results.first()?;
        let result = model.struct_of(usual)?;
        let members = result.members.iter();
        let mut lists = members.filter_map(|member| match model.resolve(&member.ty) {
            TypeRef::List(item) => Some((member, model.resolve(item))),
            _ => None,
        });
        let is_page = asked.members.iter().all(|member| !member.is_argument())
            && self.has_text(params, asked, CURSOR)
            && self.has_text(usual, result, NEXT_CURSOR);
        let (Some((items, item @ TypeRef::Named(_))), None, true) = (lists.next(), lists.next(), is_page) else {
            return None;
        };
        Some(json!({
            "item": qualified(item),
            "method": call.method.name,
            "call": call.values,
            "params": qualified(params),
            "optional": call.params.is_some_and(|member| !member.required),
            "cursor": CURSOR,
            "variant": call.values["result"]["variant"].as_str()?,
            "items": self.field(usual, &items.name)?,
            "required": items.required,
            "next": NEXT_CURSOR,
        }))
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
}
