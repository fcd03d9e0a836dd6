//! Tools from typed functions.

use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;

use jsonschema::Validator;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, OpenJson, OpenObject};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Function, invalid};
use crate::context::Context;
use crate::side::ServerSide;

/// A tool, and what calls it.
pub(super) struct ToolEntry {
    pub(super) tool: hub::Tool,
    pub(super) call: Function<Option<OpenObject>, hub::CallToolResult>,
}

/// What a tool's function may give.
pub trait IntoToolResult: Send + 'static {
    /// The schema of the structured content, if there is any.
    fn output_schema() -> Option<Value> {
        None
    }

    /// The result.
    fn into_tool_result(self) -> hub::CallToolResult;
}

/// Structured content, with its schema; clients that know none get it as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Structured<T>(pub T);

impl IntoToolResult for hub::CallToolResult {
    fn into_tool_result(self) -> hub::CallToolResult {
        self
    }
}

impl IntoToolResult for Vec<hub::ContentBlock> {
    fn into_tool_result(self) -> hub::CallToolResult {
        hub::CallToolResult::new(self)
    }
}

impl IntoToolResult for hub::ContentBlock {
    fn into_tool_result(self) -> hub::CallToolResult {
        hub::CallToolResult::new(vec![self])
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> hub::CallToolResult {
        text(self)
    }
}

impl IntoToolResult for &'static str {
    fn into_tool_result(self) -> hub::CallToolResult {
        text(self.to_owned())
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> IntoToolResult for Structured<T> {
    fn output_schema() -> Option<Value> {
        Some(schema_of::<T>())
    }

    fn into_tool_result(self) -> hub::CallToolResult {
        match serde_json::to_value(&self.0) {
            Ok(Value::Object(members)) => {
                text(Value::Object(members.clone()).to_string()).with_structured_content(members)
            }
            Ok(_) => failed("the tool's result is no JSON object"),
            Err(error) => failed(&error),
        }
    }
}

/// An error is a result that says so, for the model to read.
impl<T: IntoToolResult, E: Display + Send + 'static> IntoToolResult for Result<T, E> {
    fn output_schema() -> Option<Value> {
        T::output_schema()
    }

    fn into_tool_result(self) -> hub::CallToolResult {
        match self {
            Ok(result) => result.into_tool_result(),
            Err(error) => failed(&error),
        }
    }
}

fn text(text: String) -> hub::CallToolResult {
    hub::CallToolResult::new(vec![hub::TextContent::new(text).into()])
}

fn failed(error: &(impl Display + ?Sized)) -> hub::CallToolResult {
    text(error.to_string()).with_is_error(true)
}

/// Makes a tool of a function.
pub(super) fn tool_entry<A, R, F>(
    name: &str,
    description: String,
    function: impl Fn(A, Context<ServerSide>) -> F + Send + Sync + 'static,
) -> ToolEntry
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    R: IntoToolResult,
    F: Future<Output = R> + Send + 'static,
{
    let schema = schema_of::<A>();
    let judge = jsonschema::validator_for(&schema).expect("a derived schema can be judged by");
    let mut tool = hub::Tool::new(name, schema).with_description(description);
    tool.output_schema = R::output_schema().map(OpenObject::from);
    let (judge, function) = (Arc::new(judge), Arc::new(function));
    ToolEntry {
        tool,
        call: Arc::new(move |arguments, context| {
            let (judge, function) = (Arc::clone(&judge), Arc::clone(&function));
            Box::pin(async move {
                let arguments = decode::<A>(arguments, &judge)?;
                Ok(function(arguments, context).await.into_tool_result())
            })
        }),
    }
}

/// Arguments that the tool's schema accepts, decoded.
fn decode<A: DeserializeOwned>(arguments: Option<OpenObject>, judge: &Validator) -> Result<A, ErrorObject> {
    let json = arguments.map_or_else(|| OpenJson::from(json!({})), OpenJson::from);
    let value: Value = json
        .parse()
        .map_err(|error| invalid(format!("Invalid arguments: {error}")))?;
    let faults: Vec<String> = judge
        .iter_errors(&value)
        .map(|error| match error.instance_path().as_str() {
            "" => error.to_string(),
            path => format!("{path}: {error}"),
        })
        .collect();
    if !faults.is_empty() {
        return Err(invalid(format!("Invalid arguments: {}", faults.join("; "))));
    }
    serde_json::from_value(value).map_err(|error| invalid(format!("Invalid arguments: {error}")))
}

/// The schema that a type derives.
fn schema_of<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::default().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    if let Some(members) = schema.as_object_mut() {
        members.remove("title");
        // A tool takes an object, also where the type has no members.
        members.entry("type").or_insert_with(|| json!("object"));
    }
    schema
}
