//! A tool call, and the input that the server requests from its client during it.

use rmcp::service::{RequestContext, ServiceError};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use crate::{json, typed};

/// The levels of log messages, the least severe first.
pub(super) const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

pub(super) type Context = RequestContext<RoleServer>;

/// A tool call.
pub(super) struct Call<'c> {
    pub(super) given: Map<String, Value>,
    /// The client's responses to the input requests of the previous result.
    pub(super) answers: Value,
    pub(super) state: Option<String>,
    pub(super) context: &'c Context,
}

/// The reason why a call has no final result yet.
pub(super) enum Unfinished {
    Error(ErrorData),
    /// A result that requests input.
    InputRequired(Value),
}

impl From<ErrorData> for Unfinished {
    fn from(error: ErrorData) -> Self {
        Self::Error(error)
    }
}

impl Call<'_> {
    /// Whether the client is stateless: it started without a handshake, and sends its settings with each request.
    pub(super) fn is_stateless(&self) -> bool {
        json(&self.context.meta)["io.modelcontextprotocol/protocolVersion"].is_string()
    }

    /// Requests several inputs in a result.
    pub(super) fn ask_all(&self, questions: Value, state: Option<&str>) -> Result<&Value, Unfinished> {
        let mut names = questions.as_object().into_iter().flat_map(Map::keys);
        if names.all(|name| !self.answers[name].is_null()) {
            return Ok(&self.answers);
        }
        let mut result = json!({"resultType": "input_required", "inputRequests": questions});
        if let Some(state) = state {
            result["requestState"] = state.into();
        }
        Err(Unfinished::InputRequired(result))
    }

    /// Requests one input: by a request, or in a result.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Result<Value, Unfinished> {
        if self.is_stateless() {
            let question = json!({"answer": {"method": method, "params": params}});
            return self.ask_all(question, None).map(|answers| answers["answer"].clone());
        }
        let peer = &self.context.peer;
        Ok(match method {
            "elicitation/create" => json(peer.create_elicitation(typed(params)?).await.map_err(internal)?),
            "sampling/createMessage" => json(peer.create_message(typed(params)?).await.map_err(internal)?),
            _ => json(peer.list_roots().await.map_err(internal)?),
        })
    }

    pub(super) async fn elicit(&self, schema: &Value) -> Result<String, Unfinished> {
        let message = self
            .given
            .get("message")
            .cloned()
            .unwrap_or_else(|| "Please answer".into());
        let question = json!({"mode": "form", "message": message, "requestedSchema": schema});
        let answer = self.ask("elicitation/create", question).await?;
        let action = answer["action"].as_str().unwrap_or_default();
        Ok(format!("The user chose to {action}: {}", answer["content"]))
    }

    /// The lowest level of log messages that the client requests.
    pub(super) fn level(&self, of_session: usize) -> usize {
        if !self.is_stateless() {
            return of_session;
        }
        let level = json(&self.context.meta)["io.modelcontextprotocol/logLevel"].clone();
        let level = LEVELS.iter().position(|known| level == *known);
        level.unwrap_or(LEVELS.len())
    }
}

/// A form with one field.
pub(super) fn question(message: &str, field: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]});
    json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}})
}

pub(super) fn user(text: &Value) -> Value {
    json!([{"role": "user", "content": {"type": "text", "text": text}}])
}

pub(super) fn uris_of(roots: &Value) -> Vec<Value> {
    let roots = roots["roots"].as_array().into_iter().flatten();
    roots.map(|root| root["uri"].clone()).collect()
}

/// An error of a request to the client.
pub(super) fn internal(error: ServiceError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
