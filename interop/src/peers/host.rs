//! The handlers of our client, and a record of the requests and notifications that it received.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_runtime::{ClientHandler, ClientSide, Context, ErrorObject, error_code, hub};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

/// The requests and notifications received so far: methods and their parameters, in order.
#[derive(Debug, Default)]
pub struct ReceivedMessages {
    messages: Mutex<Vec<(&'static str, Value)>>,
    more: Notify,
}

impl ReceivedMessages {
    /// The number of messages.
    pub fn len(&self) -> usize {
        self.messages().len()
    }

    /// The parameters of the messages with this method, skipping the first `after` messages of all methods.
    pub fn of(&self, method: &str, after: usize) -> Vec<Value> {
        let messages = self.messages();
        let later = messages.iter().skip(after).filter(|(name, _)| *name == method);
        later.map(|(_, params)| params.clone()).collect()
    }

    /// Waits for another message.
    pub async fn more(&self) {
        self.more.notified().await;
    }

    fn note(&self, method: &'static str, params: &impl Serialize) {
        self.messages()
            .push((method, serde_json::to_value(params).unwrap_or_default()));
        self.more.notify_one();
    }

    fn messages(&self) -> MutexGuard<'_, Vec<(&'static str, Value)>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client with roots, a model that always gives the same answer, and a user who fills in every form.
pub struct Host(pub Arc<ReceivedMessages>);

impl Host {
    /// The capabilities that it declares.
    pub fn capabilities() -> hub::ClientCapabilities {
        from_json(json!({"roots": {"listChanged": true}, "sampling": {}, "elicitation": {"form": {}}}))
            .unwrap_or_default()
    }
}

type Asked = Context<ClientSide>;

impl ClientHandler<Asked> for Host {
    async fn list_roots(
        &self,
        params: Option<hub::ListRootsRequestParams>,
        _: &Asked,
    ) -> Result<hub::ListRootsResult, ErrorObject> {
        self.0.note("roots/list", &params);
        from_json(json!({"roots": [
            {"uri": "file:///interop/first", "name": "First"},
            {"uri": "file:///interop/second", "name": "Second"},
        ]}))
    }

    async fn create_message(
        &self,
        params: hub::CreateMessageRequestParams,
        _: &Asked,
    ) -> Result<hub::CreateMessageResult, ErrorObject> {
        self.0.note("sampling/createMessage", &params);
        from_json(json!({
            "role": "assistant",
            "content": {"type": "text", "text": "So says our model."},
            "model": "interop-model",
            "stopReason": "endTurn",
        }))
    }

    async fn elicit(&self, params: hub::ElicitRequestParams, _: &Asked) -> Result<hub::ElicitResult, ErrorObject> {
        self.0.note("elicitation/create", &params);
        let form = serde_json::to_value(&params).unwrap_or_default();
        let fields = form["requestedSchema"]["properties"].as_object().into_iter().flatten();
        let content: Map<String, Value> = fields.map(|(name, field)| (name.clone(), fill(field))).collect();
        from_json(json!({"action": "accept", "content": content}))
    }

    async fn on_logging_message(&self, params: hub::LoggingMessageNotificationParams, _: &Asked) {
        self.0.note("notifications/message", &params);
    }

    async fn on_resource_updated(&self, params: hub::ResourceUpdatedNotificationParams, _: &Asked) {
        self.0.note("notifications/resources/updated", &params);
    }

    async fn on_tool_list_changed(&self, params: Option<hub::NotificationParams>, _: &Asked) {
        self.0.note("notifications/tools/list_changed", &params);
    }
}

/// The user's value for a field of a form. Numbers are integers, because the official schemas require that in answers.
fn fill(field: &Value) -> Value {
    let first = |choices: &Value| match choices.get(0) {
        Some(choice) => choice.get("const").unwrap_or(choice).clone(),
        None => Value::Null,
    };
    if field["type"] == "array" {
        let items = &field["items"];
        return json!([first(if items["enum"].is_array() {
            &items["enum"]
        } else {
            &items["anyOf"]
        })]);
    }
    for choices in [&field["enum"], &field["oneOf"]] {
        if choices.is_array() {
            return first(choices);
        }
    }
    match (field["type"].as_str(), field["format"].as_str()) {
        (Some("boolean"), _) => json!(true),
        (Some("integer" | "number"), _) => json!(42),
        (_, Some("email")) => json!("ada@example.org"),
        (_, Some("uri")) => json!("https://example.org/ada"),
        (_, Some("date")) => json!("1815-12-10"),
        (_, Some("date-time")) => json!("1815-12-10T12:00:00Z"),
        _ => json!("Ada"),
    }
}

fn from_json<T: DeserializeOwned>(value: Value) -> Result<T, ErrorObject> {
    serde_json::from_value(value).map_err(|error| ErrorObject::new(error_code::INTERNAL_ERROR, error.to_string()))
}
