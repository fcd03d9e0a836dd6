//! The program's server, with a tool for each feature of a session.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_runtime::hub::{self, ElicitRequestFormParams, LoggingLevel};
use mcp_runtime::router::{Call, resource};
use mcp_runtime::{CallClient, CallError, Router};

/// The resource that changes.
pub const RESOURCE: &str = "test://a";

async fn ask(call: &Call) -> Result<String, CallError> {
    let schema = r#"{"type": "object", "properties": {"name": {"type": "string"}}}"#;
    let schema = serde_json::from_str(schema).expect("it is a schema");
    let question = ElicitRequestFormParams::new("Who are you?", schema);
    let answer = call.peer().elicit(question.into()).await?;
    Ok(serde_json::to_string(&answer).expect("it is JSON"))
}

type Events = Arc<Mutex<Vec<&'static str>>>;

/// Records an event when it is dropped.
struct OnDrop(Events, &'static str);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.lock().expect("nobody panics with it").push(self.1);
    }
}

/// Waits for its cancellation, which the call signals. It is dropped instead if its session ends.
async fn wait(call: &Call, events: &Events) -> &'static str {
    drop(OnDrop(Arc::clone(events), "waiting"));
    let _end = OnDrop(Arc::clone(events), "cancelled");
    call.cancelled().cancelled().await;
    "never"
}

pub fn server() -> Router {
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&events);
    let router = Router::new("made up", "1.0")
        .page_size(2)
        .tool("greet", "Greets", || "hello")
        .tool("ask", "Asks", |call: Call| async move { ask(&call).await })
        .tool("log", "Logs", |call: Call| async move {
            for level in [LoggingLevel::Debug, LoggingLevel::Error] {
                drop(call.log(level, serde_json::Value::from("text")).await);
            }
            "logged"
        })
        .tool("work", "Makes progress", |call: Call| async move {
            drop(call.progress(1.0, Some(2.0), None).await);
            "done"
        })
        .tool("wait", "Never ends", move |call: Call| {
            let events = Arc::clone(&events);
            async move { wait(&call, &events).await }
        })
        .tool("events", "Lists events of calls", move || {
            let events = heard.lock().expect("nobody panics with it").join(", ");
            async move { events }
        })
        .with(resource(hub::Resource::new("a", RESOURCE), || "text"));
    let changing = router.clone();
    router.tool("change", "Changes a resource and the list of tools", move || {
        let changing = changing.clone();
        async move {
            tokio::spawn(async move {
                // After the response, because nothing must depend on the order of the two.
                tokio::time::sleep(Duration::from_millis(20)).await;
                changing.resource_updated(RESOURCE);
                changing.remove_tool("greet");
            });
            "changed"
        }
    })
}
