//! The responses and the state that a client sends when it repeats a request whose result requested input. They are
//! recognised by the types of members.

use serde_json::{Value, json};

use super::side::{Call, Side};
use crate::emit::names::qualified;
use crate::model::{Member, Struct, TypeRef};

impl Side<'_> {
    /// Returns the template's values for the function that finds them in a request, if a result can request input.
    pub(super) fn rounds(&self, calls: &[Call<'_>]) -> Option<Value> {
        let repeated: Vec<Value> = calls.iter().filter_map(|call| self.repeated(call)).collect();
        let responses = repeated.first()?["type"].clone();
        Some(json!({"responses": responses, "repeated": repeated}))
    }

    /// Recognises a request whose result may request input, and whose parameters have members for the responses and a
    /// state. Returns the template's values.
    fn repeated(&self, call: &Call<'_>) -> Option<Value> {
        let model = self.model;
        let params = &call.params.filter(|member| member.required)?.ty;
        let retry_input = model.struct_of(params)?;
        let is_text = |member: &Member| !member.required && *model.resolve(&member.ty) == TypeRef::String;
        model.input_requests().into_iter().find_map(|(requests, answers)| {
            let results = call.method.results.iter().filter_map(|result| model.struct_of(result));
            let asking = { results }.find(|result| self.map_of(result, requests).is_some())?;
            let responses = self.map_of(retry_input, answers)?;
            let is_state = |member: &&Member| {
                let mut others = asking.members.iter().filter(|other| is_text(other));
                is_text(member) && others.any(|other| other.name == member.name)
            };
            let state = retry_input.members.iter().find(is_state)?;
            Some(json!({
                "type": qualified(&responses.ty),
                "variant": call.values["variant"],
                "params": call.values["field"].as_str()?,
                "responses": self.field(params, &responses.name)?,
                "state": self.field(params, &state.name)?,
            }))
        })
    }

    /// Returns the optional member that is a map of values of a type.
    fn map_of<'i>(&self, object: &'i Struct, ty: &str) -> Option<&'i Member> {
        let (model, ty) = (self.model, TypeRef::Named(ty.to_owned()));
        let is_map = |member: &&Member| match model.resolve(&member.ty) {
            TypeRef::Map(value) => !member.required && model.resolve(value) == model.resolve(&ty),
            _ => false,
        };
        object.members.iter().find(is_map)
    }
}
