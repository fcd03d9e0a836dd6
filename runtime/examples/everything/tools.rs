//! Tools that answer without asking the client anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_runtime::hub::{ContentBlock, LoggingLevel, Tool};
use mcp_runtime::router::{Call, Route, RouteError, tool, tool_with_schema};
use mcp_runtime::{CallError, Router, Structured};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::sleep;

use crate::content::{embedded, picture, sound, text};

#[derive(Deserialize, JsonSchema)]
struct Resource {
    /// The address of a resource.
    uri: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    celsius: f64,
    city: String,
}

pub fn add_to(router: Router) -> Router {
    let cancelled = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&cancelled);
    router
        .tool("test_simple_text", "Gives a text", |_: (), _| async {
            "This is a simple text response for testing."
        })
        .tool("test_image_content", "Gives a picture", |_: (), _| async {
            ContentBlock::from(picture())
        })
        .tool("test_audio_content", "Gives a sound", |_: (), _| async {
            ContentBlock::from(sound())
        })
        .tool("test_embedded_resource", "Gives a resource", |_: (), _| async {
            let contents = "This is an embedded resource content.";
            ContentBlock::from(embedded("test://embedded-resource", "text/plain", contents))
        })
        .tool(
            "test_multiple_content_types",
            "Gives content of several kinds",
            |_: (), _| async {
                let contents = r#"{"test":"data","value":123}"#;
                let resource = embedded("test://mixed-content-resource", "application/json", contents);
                let blocks: [ContentBlock; 3] = [
                    text("Multiple content types test:").into(),
                    picture().into(),
                    resource.into(),
                ];
                Vec::from(blocks)
            },
        )
        .tool("test_error_handling", "Fails", |_: (), _| async {
            Err::<&str, _>("This tool intentionally returns an error for testing")
        })
        .tool("test_structured", "Gives structured content", |_: (), _| async {
            Structured(Weather {
                celsius: 21.5,
                city: "Bern".to_owned(),
            })
        })
        .tool("test_tool_with_logging", "Writes three log messages", |_: (), call| {
            log(call)
        })
        .tool("test_tool_with_progress", "Tells how far it has come", |_: (), call| {
            progress(call)
        })
        .tool("test_reconnection", "Answers after a while", |_: (), _| async {
            sleep(Duration::from_millis(100)).await;
            "The answer has come."
        })
        .tool(
            "test_slow",
            "Takes half a minute, unless it is cancelled",
            move |_: (), _| slow(Arc::clone(&count)),
        )
        .tool(
            "test_cancelled",
            "Tells how many calls of test_slow were cancelled",
            move |_: (), _| {
                let count = cancelled.load(Ordering::SeqCst);
                async move { count.to_string() }
            },
        )
        .with(with_header())
        .tool(
            "test_touch_resource",
            "Changes a resource",
            |resource: Resource, call: Call| async move {
                call.router().resource_updated(resource.uri);
                "Touched."
            },
        )
        .tool(
            "test_list_changed",
            "Adds a tool, or takes it away",
            |_: (), call: Call| async move {
                let router = call.router();
                if !router.remove_tool("test_dynamic") {
                    router.insert(tool("test_dynamic", "Comes and goes", |_: (), _| async { "Here." }))?;
                }
                Ok::<_, RouteError>("Changed.")
            },
        )
        .with(with_every_keyword())
}

async fn log(call: Call) -> Result<&'static str, CallError> {
    call.log(LoggingLevel::Info, json!("Tool execution started")).await?;
    sleep(Duration::from_millis(50)).await;
    call.log(LoggingLevel::Info, json!("Tool processing data")).await?;
    sleep(Duration::from_millis(50)).await;
    call.log(LoggingLevel::Info, json!("Tool execution completed")).await?;
    Ok("Three messages were logged.")
}

async fn progress(call: Call) -> Result<&'static str, CallError> {
    call.progress(0.0, Some(100.0), None).await?;
    sleep(Duration::from_millis(50)).await;
    call.progress(50.0, Some(100.0), None).await?;
    sleep(Duration::from_millis(50)).await;
    call.progress(100.0, Some(100.0), None).await?;
    Ok("Done.")
}

/// A cancelled call is dropped where it waits.
async fn slow(cancelled: Arc<AtomicUsize>) -> &'static str {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Dropped(cancelled);
    sleep(Duration::from_secs(30)).await;
    dropped.0.fetch_sub(1, Ordering::SeqCst);
    "Half a minute has passed."
}

/// A tool whose schema uses what a schema may.
fn with_every_keyword() -> Route {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    });
    let tool = Tool::new("json_schema_2020_12_tool", schema).with_description("Has a schema with many keywords");
    tool_with_schema(tool, |arguments, _| async move { json!(arguments).to_string() })
        .expect("the schema is one")
        .into()
}

/// A tool with an argument that HTTP requests repeat in a header.
fn with_header() -> Route {
    let schema = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let tool = Tool::new("test_header", schema).with_description("Has an argument that a header repeats");
    tool_with_schema(tool, |arguments, _| async move { json!(arguments).to_string() })
        .expect("the schema is one")
        .into()
}
