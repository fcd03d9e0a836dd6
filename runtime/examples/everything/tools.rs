//! Tools that request no input from the client.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_runtime::hub::{CallToolResult, LoggingLevel, Tool};
use mcp_runtime::router::{Call, Route, RouteError, tool, tool_with_schema};
use mcp_runtime::{Args, CallError, Router, State, Structured};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
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

/// The number of calls of `test_slow` that were cancelled.
type Cancelled = Arc<AtomicUsize>;

pub fn add_to(router: Router) -> Router {
    router
        .with_state(Cancelled::default())
        .tool(
            "test_simple_text",
            "Gives a text",
            || "This is a simple text response for testing.",
        )
        .tool("test_image_content", "Gives a picture", picture)
        .tool("test_audio_content", "Gives a sound", sound)
        .tool("test_embedded_resource", "Gives a resource", || {
            let contents = "This is an embedded resource content.";
            embedded("test://embedded-resource", "text/plain", contents)
        })
        .tool("test_multiple_content_types", "Gives content of several kinds", || {
            let contents = r#"{"test":"data","value":123}"#;
            let resource = embedded("test://mixed-content-resource", "application/json", contents);
            (text("Multiple content types test:"), picture(), resource)
        })
        .tool("test_error_handling", "Fails", || {
            Err::<(), _>("This tool intentionally returns an error for testing")
        })
        .tool("test_structured", "Gives structured content", || {
            Structured(Weather {
                celsius: 21.5,
                city: "Bern".to_owned(),
            })
        })
        .with(
            tool("test_undeclared", "Gives members that no schema declares", undeclared).output_schema(
                json!({"type": "object", "properties": {"celsius": {"type": "number"}}, "required": ["celsius"]}),
            ),
        )
        .tool("test_tool_with_logging", "Writes three log messages", log)
        .tool("test_tool_with_progress", "Reports progress while it runs", progress)
        .tool("test_reconnection", "Answers after a while", || async {
            sleep(Duration::from_millis(100)).await;
            "The answer has come."
        })
        .tool("test_slow", "Takes half a minute, unless it is cancelled", slow)
        .tool(
            "test_cancelled",
            "Count the calls of test_slow that were cancelled",
            |State(cancelled): State<Cancelled>| cancelled.load(Ordering::SeqCst),
        )
        .with(with_header())
        .tool("test_touch_resource", "Changes a resource", touch)
        .tool("test_list_changed", "Adds a tool, or takes it away", change_list)
        .with(with_every_keyword())
}

/// Returns a member that the tool's schema doesn't declare, and one that the protocol doesn't.
fn undeclared() -> CallToolResult {
    let structured = json!({"celsius": 21.5, "metres": 540});
    let mut result = CallToolResult::new(vec![text(structured.to_string()).into()]).with_structured_content(structured);
    result.extra.insert("x-undeclared", json!(true));
    result
}

fn touch(Args(resource): Args<Resource>, call: Call) -> &'static str {
    call.router().resource_updated(resource.uri);
    "Touched."
}

fn change_list(call: Call) -> Result<&'static str, RouteError> {
    let router = call.router();
    if !router.remove_tool("test_dynamic") {
        router.insert(tool("test_dynamic", "Comes and goes", || "Here."))?;
    }
    Ok("Changed.")
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

/// A cancelled call is dropped while it waits.
async fn slow(State(cancelled): State<Cancelled>) -> &'static str {
    struct Dropped(Cancelled);
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

/// A tool whose schema uses many keywords of JSON Schema.
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
    tool_with_schema(tool, |Args(arguments): Args<Value>| arguments.to_string())
        .expect("the schema is one")
        .into()
}

/// A tool with an argument that HTTP requests repeat in a header.
fn with_header() -> Route {
    let schema = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let tool = Tool::new("argument_in_header", schema).with_description("Has an argument that a header repeats");
    tool_with_schema(tool, |Args(arguments): Args<Value>| arguments.to_string())
        .expect("the schema is one")
        .into()
}
