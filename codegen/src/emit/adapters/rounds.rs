//! What a client brings when it repeats a request whose result asked for something, told by the types of members.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::side::{Call, Side};
use super::types::qualified;
use crate::emit::tokens::ident;
use crate::model::{Member, Struct, TypeRef};

/// A request that is repeated.
struct Repeated<'i> {
    call: &'i Call<'i>,
    /// The field of its parameters with the answers, and its type.
    responses: (Ident, &'i TypeRef),
    /// The field with the state.
    state: Ident,
}

impl Side<'_> {
    /// The function that finds what a request brings, if a result asks for anything.
    pub(super) fn rounds(&self) -> Option<TokenStream> {
        let (calls, _) = self.requests()?;
        let repeated: Vec<Repeated<'_>> = calls.iter().filter_map(|call| self.repeated(call)).collect();
        let (_, responses) = &repeated.first()?.responses;
        let responses = qualified("hub", responses);
        let requests = ident(&self.requests);
        let arms = repeated.iter().filter_map(|repeated| {
            let (variant, params) = (&repeated.call.variant, repeated.call.field.as_ref()?);
            let ((responses, _), state) = (&repeated.responses, &repeated.state);
            Some(quote! {
                hub::#requests::#variant(message) => Some(RetryInput {
                    responses: &mut message.#params.#responses,
                    state: &mut message.#params.#state,
                }),
            })
        });
        Some(quote! {
            /// What a request brings when it is repeated, because its result asked for something.
            #[derive(Debug)]
            pub struct RetryInput<'r> {
                /// The answers to what the result asked.
                pub responses: &'r mut Option<#responses>,
                /// The state that the result had.
                pub state: &'r mut Option<String>,
            }

            /// What a request brings when it is repeated; `None` if its result never asks for anything.
            pub fn retry_input(request: &mut hub::#requests) -> Option<RetryInput<'_>> {
                match request {
                    #(#arms)*
                    _ => None,
                }
            }
        })
    }

    /// A request whose result may have questions, if its parameters have a place for the answers and for a state.
    fn repeated<'i>(&'i self, call: &'i Call<'i>) -> Option<Repeated<'i>> {
        let model = self.hub.model;
        let params = self
            .params(call)
            .filter(|_| call.params.as_ref().is_some_and(|(_, optional)| !optional))?;
        let retry_input = model.struct_of(params)?;
        let is_text = |member: &Member| !member.required && *model.resolve(&member.ty) == TypeRef::String;
        model.questions().iter().find_map(|questions| {
            let results = call.method.results.iter().filter_map(|result| model.struct_of(result));
            let asking = { results }.find(|result| self.map_of(result, &questions.requests).is_some())?;
            let responses = self.map_of(retry_input, &questions.results)?;
            let is_state = |member: &&Member| {
                let mut others = asking.members.iter().filter(|other| is_text(other));
                is_text(member) && others.any(|other| other.name == member.name)
            };
            let state = retry_input.members.iter().find(is_state)?;
            Some(Repeated {
                call,
                responses: (self.field(params, &responses.name)?, &responses.ty),
                state: self.field(params, &state.name)?,
            })
        })
    }

    /// The optional member that has values of a type by name.
    fn map_of<'i>(&self, object: &'i Struct, ty: &TypeRef) -> Option<&'i Member> {
        let model = self.hub.model;
        let is_map = |member: &&Member| match model.resolve(&member.ty) {
            TypeRef::Map(value) => !member.required && model.resolve(value) == model.resolve(ty),
            _ => false,
        };
        object.members.iter().find(is_map)
    }
}
