//! Tools from functions.

use std::fmt::{self, Display};
use std::future::Future;
use std::sync::Arc;

use jsonschema::Validator;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, OpenJson, OpenObject, error_code};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Call, Function, invalid};

/// A tool, and the function that it calls; [`tool()`] and [`tool_with_schema()`] make one.
#[derive(Clone)]
pub struct ToolRoute {
    pub(super) tool: hub::Tool,
    input: Arc<Validator>,
    output: Option<Arc<Validator>>,
    function: Function<Value, hub::CallToolResult>,
}

/// A tool's schema isn't one that values can be judged by.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the {which} of the tool `{tool}`: {what}")]
pub struct InvalidToolSchema {
    tool: String,
    which: &'static str,
    what: String,
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

/// A tool from a typed function. Its input schema is that of `A`, and arguments are checked by it before they are
/// decoded; its output schema is that of what the function gives, if that has one.
///
/// # Panics
/// When a schema that a type derives isn't one, which only a hand-written `JsonSchema` can cause.
pub fn tool<A, R, F>(
    name: impl Into<String>,
    description: impl Into<String>,
    function: impl Fn(A, Call) -> F + Send + Sync + 'static,
) -> ToolRoute
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    R: IntoToolResult,
    F: Future<Output = R> + Send + 'static,
{
    let mut tool = hub::Tool::new(name, schema_of::<A>()).with_description(description);
    tool.output_schema = R::output_schema().map(OpenObject::from);
    let function: Function<Value, _> = Arc::new(move |arguments, call| {
        let running = serde_json::from_value(arguments).map(|arguments| function(arguments, call));
        Box::pin(async move {
            let result = running
                .map_err(|error| invalid(format!("Invalid arguments: {error}")))?
                .await;
            Ok(result.into_tool_result())
        })
    });
    ToolRoute::new(tool, function).expect("a derived schema is one")
}

/// A tool whose schemas are written by hand; the function gets the arguments as JSON, which the input schema accepts.
///
/// # Errors
/// When a schema isn't one.
pub fn tool_with_schema<R, F>(
    tool: hub::Tool,
    function: impl Fn(Map<String, Value>, Call) -> F + Send + Sync + 'static,
) -> Result<ToolRoute, InvalidToolSchema>
where
    R: IntoToolResult,
    F: Future<Output = R> + Send + 'static,
{
    let function: Function<Value, _> = Arc::new(move |arguments, call| {
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        let running = function(arguments, call);
        Box::pin(async move { Ok(running.await.into_tool_result()) })
    });
    ToolRoute::new(tool, function)
}

impl ToolRoute {
    fn new(tool: hub::Tool, function: Function<Value, hub::CallToolResult>) -> Result<Self, InvalidToolSchema> {
        let judge = |schema: &OpenObject, which| {
            let judged = OpenJson::from(schema.clone())
                .parse::<Value>()
                .map_err(|error| error.to_string())
                .and_then(|schema| jsonschema::validator_for(&schema).map_err(|error| error.to_string()));
            judged.map(Arc::new).map_err(|what| InvalidToolSchema {
                tool: tool.name.clone(),
                which,
                what,
            })
        };
        let input = judge(&tool.input_schema, "input schema")?;
        let output = tool.output_schema.as_ref();
        let output = output.map(|schema| judge(schema, "output schema")).transpose()?;
        Ok(Self {
            tool,
            input,
            output,
            function,
        })
    }

    /// With a name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.tool.title = Some(title.into());
        self
    }

    /// With hints about what the tool does, such as whether it only reads.
    #[must_use]
    pub fn annotations(mut self, annotations: hub::ToolAnnotations) -> Self {
        self.tool.annotations = Some(annotations);
        self
    }

    /// With icons.
    #[must_use]
    pub fn icons(mut self, icons: Vec<hub::Icon>) -> Self {
        self.tool.icons = Some(icons);
        self
    }

    pub(super) async fn call(
        &self,
        arguments: Option<OpenObject>,
        call: Call,
    ) -> Result<hub::CallToolResult, ErrorObject> {
        let arguments = match arguments {
            Some(arguments) => OpenJson::from(arguments).parse().map_err(invalid)?,
            None => json!({}),
        };
        let faults = faults(&self.input, &arguments);
        if !faults.is_empty() {
            return Err(invalid(format!("Invalid arguments: {faults}")));
        }
        let result = (self.function)(arguments, call).await?;
        self.check_output(&result)?;
        Ok(result)
    }

    /// What a tool gives must be what its output schema promises, unless it says that it failed.
    fn check_output(&self, result: &hub::CallToolResult) -> Result<(), ErrorObject> {
        let Some(judge) = self.output.as_ref().filter(|_| result.is_error != Some(true)) else {
            return Ok(());
        };
        let content = result.structured_content.clone().map(OpenJson::from);
        let faults = match content.map(|content| content.parse::<Value>()) {
            Some(Ok(content)) => faults(judge, &content),
            Some(Err(error)) => error.to_string(),
            None => "there is none".to_owned(),
        };
        if faults.is_empty() {
            return Ok(());
        }
        tracing::error!(tool = self.tool.name, %faults, "a tool's structured content isn't what its schema promises");
        let what = "the tool's result isn't what its output schema promises";
        Err(ErrorObject::new(error_code::INTERNAL_ERROR, what))
    }
}

/// Why a schema doesn't accept a value; nothing if it does.
fn faults(judge: &Validator, value: &Value) -> String {
    let faults: Vec<String> = judge
        .iter_errors(value)
        .map(|error| match error.instance_path().as_str() {
            "" => error.to_string(),
            path => format!("{path}: {error}"),
        })
        .collect();
    faults.join("; ")
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

impl fmt::Debug for ToolRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolRoute").field(&self.tool.name).finish()
    }
}
