//! The input requests of a handler that runs once per round: those that have a response, and those that are still open.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_adapters::hub::{self, InputRequest, InputResponse};
use mcp_adapters::mcp_wire::{ErrorObject, RawJson};
use sha2::{Digest, Sha256};

use super::state::{EarlierRequest, RoundState};
use crate::canonical::canonical;
use crate::error::{internal_error, invalid_params};
use crate::message::to_value;

/// The input requests of one round.
#[derive(Debug, Default)]
pub struct RoundRequests {
    /// The state from earlier rounds, to which this one adds.
    state: RoundState,
    /// The responses to the input requests of the previous round.
    responses: hub::InputResponses,
    /// Whether the client can answer named input requests that weren't asked before.
    takes_unasked: bool,
    /// The names of the input requests of this round.
    names: Vec<String>,
    /// The input requests that have no answer yet.
    open: hub::InputRequests,
}

impl RoundRequests {
    /// Creates the input requests of a round. With `takes_unasked`, a client that sends no state can answer named input
    /// requests before they are sent.
    pub fn new(state: Option<RoundState>, responses: hub::InputResponses, takes_unasked: bool) -> Self {
        Self {
            takes_unasked: takes_unasked && state.is_none(),
            state: state.unwrap_or_default(),
            responses,
            ..Self::default()
        }
    }

    /// Returns the answer to an input request, or `None` if the client has to be asked. An input request without a name
    /// is named by its number.
    ///
    /// # Errors
    /// When the handler asked something else under this name in an earlier round, or the answer is of another kind.
    pub fn ask(&mut self, name: Option<&str>, request: InputRequest) -> Result<Option<InputResponse>, ErrorObject> {
        // Only by name: the number of an input request doesn't identify it before it is asked.
        let is_answered = self.takes_unasked && name.is_some_and(|name| self.responses.contains_key(name));
        let name = name.map_or_else(|| (self.names.len() + 1).to_string(), str::to_owned);
        if self.names.contains(&name) {
            return Err(internal_error(format!(
                "the handler has two input requests with the name `{name}`"
            )));
        }
        self.names.push(name.clone());
        let digest = digest(&request);
        let known = &mut self.state.asked;
        let at = match known.iter().position(|asked| asked.name == name) {
            Some(at) if known[at].digest != digest => {
                return Err(internal_error(format!(
                    "the input request `{name}` differs from that of an earlier round: a handler must make the same requests in \
                     the same order each time it runs, or name them"
                )));
            }
            Some(at) => at,
            None => {
                known.push(EarlierRequest {
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
            let what = format!("the response to `{name}` isn't one to {}", request.method());
            return Err(invalid_params(what));
        }
        asked.answer = RawJson::from_encode(&answer).ok();
        Ok(Some(answer))
    }

    /// Returns the state for the next round, and the input requests to send to the client.
    pub fn end(self) -> (RoundState, hub::InputRequests) {
        (self.state, self.open)
    }
}

/// Whether the kind of a response matches the request.
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
