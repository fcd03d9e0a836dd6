//! The state of a request that takes several rounds. The client keeps it.

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::RawJson;
use serde::{Deserialize, Serialize};

use super::sealing::Sealing;
use crate::canonical::canonical_request;
use crate::message::to_value;

/// The state of a request: its earlier rounds as the server needs to know them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RoundState {
    /// The input requests of earlier rounds.
    pub asked: Vec<EarlierRequest>,
    /// The data that the handler has put into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
}

/// An input request of an earlier round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EarlierRequest {
    /// The name of the input request.
    pub name: String,
    /// The digest of the input request.
    pub digest: String,
    /// The answer, if the client has given one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<RawJson>,
}

impl RoundState {
    /// Whether there is nothing to keep for the next round.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.own.is_none()
    }

    /// Seals the state as the text that the client gets.
    ///
    /// # Errors
    /// When it exceeds `limit` bytes, or can't be sealed.
    pub fn seal(&self, sealing: &Sealing, binding: &Binding<'_>, limit: usize) -> Result<String, String> {
        let payload = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        let sealed = sealing
            .seal(&payload, binding.principal, &binding.request())
            .map_err(|error| error.to_string())?;
        match sealed.len() <= limit {
            true => Ok(sealed),
            false => Err(format!(
                "the state of the request has {} bytes, and {limit} are allowed",
                sealed.len()
            )),
        }
    }

    /// Opens the state that a client has sent back; `None` if it is refused.
    pub async fn open(text: &str, sealing: &Sealing, binding: &Binding<'_>, limit: usize) -> Option<Self> {
        if text.len() > limit {
            return None;
        }
        let payload = sealing.open(text, binding.principal, &binding.request()).await?;
        serde_json::from_slice(&payload).ok()
    }

    /// Returns the data that a handler has put into a state, unverified: anyone can forge such a state.
    pub fn unverified_own(text: &str, limit: usize) -> Option<String> {
        let payload = Sealing::unverified(text).filter(|_| text.len() <= limit)?;
        serde_json::from_slice::<Self>(&payload).ok()?.own
    }
}

/// The principal and the request that a state is bound to.
pub struct Binding<'b> {
    /// The principal.
    pub principal: Option<&'b str>,
    /// The request, without its input responses and state.
    pub request: &'b hub::ClientRequest,
}

impl Binding<'_> {
    /// Returns the method and the parameters of the request, which are the same each time it is repeated.
    fn request(&self) -> String {
        canonical_request(to_value(self.request))
    }
}
