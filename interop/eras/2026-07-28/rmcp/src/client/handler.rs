//! The client's handlers, and a record of the notifications that it received.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use rmcp::model::{
    ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ListRootsResult,
    LoggingMessageNotificationParam, ProgressNotificationParam, ResourceUpdatedNotificationParam,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};

use crate::{json, typed};

pub(super) const PATIENCE: Duration = Duration::from_secs(5);
pub(super) const POLL: Duration = Duration::from_millis(20);

/// The state of the client.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) roots: Vec<String>,
    /// The methods and parameters of the notifications received so far.
    told: Vec<(&'static str, Value)>,
    /// The answers to the last elicitation.
    pub(super) answered: Map<String, Value>,
    /// The metadata that is sent with each tool call.
    pub(super) meta: Map<String, Value>,
}

#[derive(Clone, Default)]
pub(super) struct Client(Arc<Mutex<Memory>>);

impl Client {
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut Memory) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn note(&self, method: &'static str, params: Value) {
        self.with(|memory| memory.told.push((method, params)));
    }

    pub(super) fn forget(&self) {
        self.with(|memory| memory.told.clear());
    }

    pub(super) fn told(&self, method: &str) -> Vec<Value> {
        self.with(|memory| {
            let told = memory.told.iter().filter(|(name, _)| *name == method);
            told.map(|(_, params)| params.clone()).collect()
        })
    }

    pub(super) async fn until_told(&self, method: &str, times: usize) -> Result<()> {
        let waiting = async {
            while self.told(method).len() < times {
                sleep(POLL).await;
            }
        };
        timeout(PATIENCE, waiting)
            .await
            .with_context(|| format!("timed out waiting for {method}"))
    }
}

type Asked = RequestContext<RoleClient>;
type Told = NotificationContext<RoleClient>;

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut config = ClientConfig::default();
        let offers = json!({"roots": {"listChanged": true}, "sampling": {}, "elicitation": {"form": {}}});
        config.capabilities = typed(offers).unwrap_or_default();
        config.client_info.name = "rmcp-driver".to_owned();
        config.client_info.version = "1.0.0".to_owned();
        config
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: Asked,
    ) -> Result<CreateMessageResult, ErrorData> {
        let asked = json(&params);
        let asked = asked["messages"].as_array().and_then(|messages| messages.last());
        let text = asked.map(text_of).unwrap_or_default();
        typed(json!({
            "role": "assistant", "model": "none", "stopReason": "endTurn",
            "content": {"type": "text", "text": format!("heard: {text}")},
        }))
    }

    async fn list_roots(&self, _: Asked) -> Result<ListRootsResult, ErrorData> {
        let roots = self.with(|memory| memory.roots.clone());
        typed(json!({"roots": roots.iter().map(|uri| json!({"uri": uri})).collect::<Vec<_>>()}))
    }

    async fn create_elicitation(&self, params: ElicitRequestParams, _: Asked) -> Result<ElicitResult, ErrorData> {
        let asked = json(&params);
        let fields = asked["requestedSchema"]["properties"].as_object().into_iter().flatten();
        let answers: Map<String, Value> = fields
            .map(|(name, field)| (name.clone(), answer(name, field)))
            .collect();
        self.with(|memory| memory.answered = answers.clone());
        typed(json!({"action": "accept", "content": answers}))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: Told) {
        self.note("notifications/progress", json(params));
    }

    async fn on_logging_message(&self, params: LoggingMessageNotificationParam, _: Told) {
        self.note("notifications/message", json(params));
    }

    async fn on_resource_updated(&self, params: ResourceUpdatedNotificationParam, _: Told) {
        self.note("notifications/resources/updated", json(params));
    }

    async fn on_tool_list_changed(&self, _: Told) {
        self.note("notifications/tools/list_changed", json!({}));
    }
}

/// The text of a message's content, which is one block or a list of them.
fn text_of(message: &Value) -> String {
    let content = &message["content"];
    let block = content.get(0).unwrap_or(content);
    block["text"].as_str().unwrap_or_default().to_owned()
}

/// An answer that the schema allows and that differs from the default.
fn answer(name: &str, schema: &Value) -> Value {
    let last = |choices: &Value| {
        let last = choices.as_array()?.last()?;
        Some(last.get("const").unwrap_or(last).clone())
    };
    if let Some(choice) = last(&schema["enum"]).or_else(|| last(&schema["oneOf"])) {
        return choice;
    }
    match schema["type"].as_str() {
        Some("boolean") => (schema["default"] == false).into(),
        Some("integer") => 7.into(),
        Some("number") => 2.5.into(),
        Some("array") => {
            let items = &schema["items"];
            let choice = last(&items["enum"]).or_else(|| last(&items["anyOf"]));
            choice.into_iter().collect()
        }
        _ if schema["format"] == "email" => "ada@localhost.localdomain".into(),
        _ => format!("my {name}").into(),
    }
}
