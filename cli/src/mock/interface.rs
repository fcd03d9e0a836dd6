//! A mock server with the items of a snapshot and made-up values.

use std::fmt::Display;
use std::path::Path;

use mcp_adapters::mcp_wire::{Decode, from_str};
use mcp_runtime::hub::{self, CallToolResult, Implementation, Prompt, Resource, ResourceTemplate, TextContent, Tool};
use mcp_runtime::router::{Route, prompt, resource, resource_template, tool_with_schema};
use mcp_runtime::transport::stdio::stdio;
use mcp_runtime::{Options, Router};
use serde_json::Value;

use crate::check::example;
use crate::client::block_on;
use crate::error::{CommandError, Summary};

/// The text of results that have no schema.
const TEXT: &str = "example";

/// Serves the client on standard input and output until it ends.
pub fn serve(file: &Path, snapshot: &Value) -> Result<Summary, CommandError> {
    let router = router(snapshot).map_err(|reason| CommandError::file(file, reason))?;
    block_on(async {
        router.serve(Options::default(), stdio()?).ended().await;
        Ok(Summary::AllSucceeded)
    })
}

fn router(snapshot: &Value) -> Result<Router, String> {
    let named = decoded::<Implementation>(&snapshot["server"]);
    let mut router = Router::from(named.unwrap_or_else(|_| Implementation::new("mock", "0")));
    if let Some(instructions) = snapshot["instructions"].as_str() {
        router = router.instructions(instructions);
    }
    for item in items(snapshot, "tools") {
        router = with(router, tool(decoded(item)?)?)?;
    }
    for item in items(snapshot, "prompts") {
        router = with(router, prompt(decoded::<Prompt>(item)?, || TEXT))?;
    }
    for item in items(snapshot, "resources") {
        router = with(router, resource(decoded::<Resource>(item)?, || TEXT))?;
    }
    for item in items(snapshot, "resourceTemplates") {
        let template = decoded::<ResourceTemplate>(item)?;
        router = with(router, resource_template(template, || TEXT).map_err(reason)?)?;
    }
    Ok(router)
}

/// A tool whose results are examples of its output schema.
fn tool(tool: Tool) -> Result<Route, String> {
    let schema = tool.output_schema.as_ref().map(|schema| schema.parse::<Value>());
    let schema = schema.transpose().map_err(reason)?;
    let call = move || -> CallToolResult {
        let structured = schema.as_ref().map(|schema| example(schema, schema));
        let text = structured.as_ref().map_or_else(|| TEXT.to_owned(), Value::to_string);
        let mut result = CallToolResult::new(vec![hub::ContentBlock::from(TextContent::new(text))]);
        result.structured_content = structured.map(Into::into);
        result
    };
    Ok(tool_with_schema(tool, call).map_err(reason)?.into())
}

fn items<'v>(snapshot: &'v Value, list: &str) -> impl Iterator<Item = &'v Value> {
    snapshot[list].as_array().into_iter().flatten()
}

fn decoded<T: Decode>(value: &Value) -> Result<T, String> {
    from_str(&value.to_string()).map_err(reason)
}

fn with(router: Router, route: impl Into<Route>) -> Result<Router, String> {
    router.try_with(route).map_err(reason)
}

fn reason(error: impl Display) -> String {
    error.to_string()
}
