//! Tools from functions.

use std::fmt::{self, Display};
use std::future::Future;
use std::sync::Arc;

use mcp_adapters::hub;
use mcp_wire::validator::Problem;
use mcp_wire::{ErrorObject, OpenJson, OpenObject, Validator};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::call::Call;
use super::error::{RouteError, or_panic};
use super::faults::{faults, shortened};
#[cfg(feature = "http-server")]
use super::mirrored::MirroredTool;
use super::schema;
use crate::error::{internal, invalid_params};
use crate::future::BoxFuture;

/// A tool, and the function that it calls; [`tool()`] and [`tool_with_schema()`] make one.
#[derive(Clone)]
pub struct ToolRoute {
    pub(super) tool: hub::Tool,
    input: Arc<Validator>,
    output: Option<Arc<Validator>>,
    function: ToolFunction,
    #[cfg(feature = "http-server")]
    pub(super) mirrored: MirroredTool,
}

/// What a tool calls, with arguments that its schema accepts; an error if they can't be decoded all the same.
type ToolFunction =
    Arc<dyn Fn(Value, Call) -> Result<BoxFuture<'static, hub::CallToolResult>, serde_json::Error> + Send + Sync>;

/// What a tool's function may give.
pub trait IntoToolResult: Send + 'static {
    /// The schema of the structured content, if there is any. Its root says that every value is an object.
    fn output_schema() -> Option<Value> {
        None
    }

    /// The result.
    fn into_tool_result(self) -> hub::CallToolResult;
}

/// Structured content, with the schema that `T` derives; clients that know none get it as text. `T` is a type whose values
/// are JSON objects. A member that is `None` is written as `null`, and its schema says so, unless serde skips it.
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
        Some(schema::output::<T>())
    }

    fn into_tool_result(self) -> hub::CallToolResult {
        match serde_json::to_value(&self.0) {
            Ok(Value::Object(members)) => {
                let content = Value::Object(members);
                text(content.to_string()).with_structured_content(content)
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

/// A tool from a typed function.
///
/// Its input schema is the one that `A` derives, and arguments are validated by it before they are decoded. `A` is a type
/// whose values are JSON objects, or `()` for a tool that takes no arguments. A member of the type `Option` may be absent;
/// clients may send `null` for it, but its schema doesn't tell them so, because several can't take a member of two types.
/// The output schema is that of what the function gives, if that has one, such as [`Structured`].
///
/// # Panics
/// When [`try_tool`] gives an error, which the types alone decide.
#[track_caller]
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
    or_panic(try_tool(name, description, function))
}

/// A tool from a typed function, as [`tool()`] makes one.
///
/// # Errors
/// [`RouteError::NoObject`] when not all values of `A`, or of the structured content, are JSON objects, and
/// [`RouteError::Schema`] when a schema that is written by hand isn't one.
pub fn try_tool<A, R, F>(
    name: impl Into<String>,
    description: impl Into<String>,
    function: impl Fn(A, Call) -> F + Send + Sync + 'static,
) -> Result<ToolRoute, RouteError>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    R: IntoToolResult,
    F: Future<Output = R> + Send + 'static,
{
    let name = name.into();
    let schema::Input {
        shown,
        accepted,
        is_unit,
    } = schema::input::<A>();
    let shown = object_root::<A>(&name, ARGUMENTS, shown)?;
    let accepted = object_root::<A>(&name, ARGUMENTS, accepted)?;
    let output = output_schema::<R>(&name)?;
    let input = validator(&name, "input schema", &accepted.into())?;
    let mut tool = hub::Tool::new(name, shown).with_description(description);
    tool.output_schema = output.map(OpenObject::from);
    let function: ToolFunction = Arc::new(move |arguments, call| {
        let arguments = if is_unit { Value::Null } else { arguments };
        let running = function(serde_json::from_value(arguments)?, call);
        Ok(Box::pin(async move { running.await.into_tool_result() }))
    });
    ToolRoute::new(tool, input, function)
}

/// A tool whose schemas are written by hand; the function gets the arguments as JSON, which the input schema accepts.
///
/// # Errors
/// [`RouteError::Schema`] when a schema isn't one, and [`RouteError::NoObject`] when the function gives structured content
/// that is not always a JSON object.
pub fn tool_with_schema<R, F>(
    tool: hub::Tool,
    function: impl Fn(Map<String, Value>, Call) -> F + Send + Sync + 'static,
) -> Result<ToolRoute, RouteError>
where
    R: IntoToolResult,
    F: Future<Output = R> + Send + 'static,
{
    output_schema::<R>(&tool.name)?;
    let input = validator(&tool.name, "input schema", &tool.input_schema)?;
    let function: ToolFunction = Arc::new(move |arguments, call| {
        let running = function(serde_json::from_value(arguments)?, call);
        Ok(Box::pin(async move { running.await.into_tool_result() }))
    });
    ToolRoute::new(tool, input, function)
}

/// What arguments and structured content are called, and what to do when a type is not fit for them.
type Role = (&'static str, &'static str);

const ARGUMENTS: Role = (
    "arguments",
    "take a struct that has a member for each argument, or `()` if there are none",
);
const CONTENT: Role = (
    "structured content",
    "give a struct, such as one whose only member holds the value",
);

/// The schema that `T` derives, if it is one of objects.
fn object_root<T>(tool: &str, (role, help): Role, schema: Value) -> Result<Value, RouteError> {
    schema::object_root(schema).map_err(|schema| RouteError::NoObject {
        tool: tool.to_owned(),
        role,
        type_name: std::any::type_name::<T>(),
        schema: schema.to_string(),
        help,
    })
}

fn output_schema<R: IntoToolResult>(tool: &str) -> Result<Option<Value>, RouteError> {
    let schema = R::output_schema();
    schema.map(|schema| object_root::<R>(tool, CONTENT, schema)).transpose()
}

fn validator(tool: &str, role: &'static str, schema: &OpenObject) -> Result<Arc<Validator>, RouteError> {
    let schema = OpenJson::from(schema.clone()).parse::<Value>();
    let validator = schema
        .map_err(|error| error.to_string())
        .and_then(|schema| Validator::new(&schema).map_err(|error| listed(error.problems())));
    validator.map(Arc::new).map_err(|what| RouteError::Schema {
        tool: tool.to_owned(),
        role,
        what,
    })
}

fn listed(problems: &[Problem]) -> String {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    problems.join("; ")
}

impl ToolRoute {
    fn new(tool: hub::Tool, input: Arc<Validator>, function: ToolFunction) -> Result<Self, RouteError> {
        let output = tool.output_schema.as_ref();
        let output = output
            .map(|schema| validator(&tool.name, "output schema", schema))
            .transpose()?;
        Ok(Self {
            #[cfg(feature = "http-server")]
            mirrored: MirroredTool::of(&tool),
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
        let revision = call.revision();
        let result = match self.begin(arguments, call) {
            Ok(running) => running.await,
            Err(what) => {
                let what = format!("Invalid arguments: {what}");
                let as_result = revision.is_some_and(|revision| revision.facts().input_errors_as_results);
                return if as_result {
                    Ok(failed(&what))
                } else {
                    Err(invalid_params(what))
                };
            }
        };
        self.check_output(&result)?;
        Ok(result)
    }

    /// Calls the function, unless the arguments are invalid; says why they are.
    fn begin(
        &self,
        arguments: Option<OpenObject>,
        call: Call,
    ) -> Result<BoxFuture<'static, hub::CallToolResult>, String> {
        let arguments = match arguments {
            Some(arguments) => arguments.parse().map_err(|error| shortened(&error))?,
            None => json!({}),
        };
        let faults = faults(&self.input, &arguments);
        if !faults.is_empty() {
            return Err(faults);
        }
        (self.function)(arguments, call).map_err(|error| shortened(&error))
    }

    /// What a tool gives must be what its output schema promises, unless it says that it failed.
    fn check_output(&self, result: &hub::CallToolResult) -> Result<(), ErrorObject> {
        let Some(validator) = self.output.as_ref().filter(|_| result.is_error != Some(true)) else {
            return Ok(());
        };
        let faults = match &result.structured_content {
            Some(content) => match content.parse() {
                Ok(value) => faults(validator, &value),
                Err(error) => shortened(&error),
            },
            None => "there is none".to_owned(),
        };
        if faults.is_empty() {
            return Ok(());
        }
        tracing::error!(tool = self.tool.name, %faults, "a tool's structured content isn't what its schema promises");
        let what = "the tool's result isn't what its output schema promises";
        Err(internal(what))
    }
}

impl fmt::Debug for ToolRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolRoute").field(&self.tool.name).finish()
    }
}
