//! The questions of a handler that runs once a round: those that have been answered, and those that are still open.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_adapters::hub::{self, InputRequest, InputResponse};
use mcp_adapters::mcp_wire::{ErrorObject, RawJson};
use sha2::{Digest, Sha256};

use super::state::{Asked, RoundState};
use crate::canonical::canonical;
use crate::error::{internal_error, invalid_params};
use crate::message::to_value;

/// The questions of one round.
#[derive(Debug, Default)]
pub struct Questions {
    /// What is known from earlier rounds, and what is learnt in this one.
    state: RoundState,
    /// The answers to the questions of the round before.
    responses: hub::InputResponses,
    /// Whether answers are taken to questions that weren't asked before, by their names.
    takes_unasked: bool,
    /// The names of the questions of this round.
    names: Vec<String>,
    /// Those that have no answer yet.
    open: hub::InputRequests,
}

impl Questions {
    /// The questions of a round. With `takes_unasked`, a client that brings no state may answer questions that have names.
    pub fn new(state: Option<RoundState>, responses: hub::InputResponses, takes_unasked: bool) -> Self {
        Self {
            takes_unasked: takes_unasked && state.is_none(),
            state: state.unwrap_or_default(),
            responses,
            ..Self::default()
        }
    }

    /// Asks a question: its answer, or `None` if the client has to be asked. A question without a name has its number as its
    /// name.
    ///
    /// # Errors
    /// When the handler hasn't asked the same in earlier rounds, or the answer is of another kind.
    pub fn ask(&mut self, name: Option<&str>, request: InputRequest) -> Result<Option<InputResponse>, ErrorObject> {
        // The number of a question says too little of it.
        let is_answered = self.takes_unasked && name.is_some_and(|name| self.responses.contains_key(name));
        let name = name.map_or_else(|| (self.names.len() + 1).to_string(), str::to_owned);
        if self.names.contains(&name) {
            return Err(internal_error(format!(
                "the handler asks two questions of the name `{name}`"
            )));
        }
        self.names.push(name.clone());
        let digest = digest(&request);
        let known = &mut self.state.asked;
        let at = match known.iter().position(|asked| asked.name == name) {
            Some(at) if known[at].digest != digest => {
                return Err(internal_error(format!(
                    "the question `{name}` isn't the one that was asked before: a handler asks the same questions in the same \
                     order each time when it runs, or gives them names"
                )));
            }
            Some(at) => at,
            None => {
                known.push(Asked {
                    name: name.clone(),
                    digest,
                    answer: None,
                });
                if !is_answered {
                    self.open.insert(name, request);
                    return Ok(None);
                }
                known.len() - 1
            }
        };
        let asked = &mut known[at];
        if let Some(answer) = &asked.answer {
            let answer = answer.decode_as().map_err(internal_error)?;
            return Ok(Some(answer));
        }
        let Some(answer) = self.responses.remove(&name) else {
            self.open.insert(name, request);
            return Ok(None);
        };
        if !fits(&request, &answer) {
            let what = format!("the answer to `{name}` is none to {}", request.method());
            return Err(invalid_params(what));
        }
        asked.answer = RawJson::from_encode(&answer).ok();
        Ok(Some(answer))
    }

    /// What the next round has to know, and what is to be asked before it.
    pub fn end(self) -> (RoundState, hub::InputRequests) {
        (self.state, self.open)
    }
}

/// Whether an answer is of the kind that a question wants.
fn fits(request: &InputRequest, answer: &InputResponse) -> bool {
    match request {
        InputRequest::Elicit(_) => matches!(answer, InputResponse::Elicit(_)),
        InputRequest::ListRoots(_) => matches!(answer, InputResponse::ListRoots(_)),
        InputRequest::CreateMessage(_) => matches!(answer, InputResponse::CreateMessage(_)),
        InputRequest::Unknown(_) => true,
    }
}

fn digest(request: &InputRequest) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(canonical(&to_value(request))))
}
