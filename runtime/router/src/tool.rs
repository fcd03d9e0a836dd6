//! Tools from functions.

use std::fmt;
use std::sync::Arc;

use mcp_adapters::hub;
use mcp_runtime_core::internal::internal_error;
use mcp_runtime_util::BoxFuture;
use mcp_wire::{ErrorObject, Extra, RawJson, RawObject, Validator};

use super::call::{Call, Input};
use super::error::{RouteError, or_panic};
use super::extract::{FromCall, invalid_tool_arguments};
use super::faults::{faults, shortened};
use super::function::{BoxedFunction, Function};
use super::mirrored::MirroredTool;
use super::schema::{self, Inlined};
use super::scope::{Layers, Listable as _, listable};
use super::target::{Answer, Target, messages};
use super::tool_error::ToolError;
use super::tool_schema::{ARGUMENTS, KIND, Output, accepted, no_arguments, object_root, validator};

/// A tool, and the function that it calls; created by [`tool()`] or [`tool_with_schema()`].
#[derive(Clone)]
pub struct ToolRoute {
    pub(super) tool: hub::Tool,
    input: Arc<Validator>,
    output: Option<Arc<Validator>>,
    pub(super) function: BoxedFunction<hub::AnyCallToolResult>,
    pub(super) mirrored: MirroredTool,
    around: Option<Around>,
}

/// A function around a tool's own function.
type Around = Arc<dyn Fn(Call, ToolRun) -> ToolRun + Send + Sync>;

/// The future of a call of a tool's function, which also checks its result.
pub type ToolRun = BoxFuture<'static, Result<hub::AnyCallToolResult, ErrorObject>>;

/// Makes a tool from a function.
///
/// The function takes extractors (see [`FromCall`](super::FromCall)), such as [`Args`](super::Args), whose type derives
/// the input schema. Without `Args`, the tool has no arguments, and arguments that a client sends anyway are ignored.
/// It returns text, content, structured content or a `Result` (see [`IntoResult`](super::IntoResult)). The output
/// schema is that of the return type, if it has one, such as [`Structured`](super::Structured).
///
/// # Panics
/// When [`try_tool`] returns an error, which depends only on the types.
#[track_caller]
pub fn tool<M>(
    name: impl Into<String>,
    description: impl Into<String>,
    function: impl Function<hub::AnyCallToolResult, M>,
) -> ToolRoute {
    or_panic(try_tool(name, description, function))
}

/// Makes a tool from a function, as [`tool()`] does, unless its types are refused.
///
/// # Errors
/// [`RouteError::NoObject`] when not all values of the arguments' type, or of the structured content, are JSON objects,
/// [`RouteError::TwoArgs`] when the function takes [`Args`](super::Args) twice, and [`RouteError::Schema`] when a type
/// has a hand-written schema that is invalid.
pub fn try_tool<M, H: Function<hub::AnyCallToolResult, M>>(
    name: impl Into<String>,
    description: impl Into<String>,
    function: H,
) -> Result<ToolRoute, RouteError> {
    derived(
        name.into(),
        description.into(),
        BoxedFunction::new(function),
        Output::of::<M, H>(),
    )
}

/// Makes a tool whose schemas are written by hand. Arguments are validated by its input schema, and not by the one that
/// the type in the function's [`Args`](super::Args) derives: `Args<serde_json::Map<String, Value>>` takes them as JSON.
///
/// # Errors
/// [`RouteError::Schema`] when a schema is invalid, and [`RouteError::NoObject`] when the function returns structured
/// content that isn't always a JSON object.
pub fn tool_with_schema<M, H: Function<hub::AnyCallToolResult, M>>(
    tool: hub::Tool,
    function: H,
) -> Result<ToolRoute, RouteError> {
    written(tool, BoxedFunction::new(function), Output::of::<M, H>())
}

/// Makes a tool with the schemas that its types derive. Not generic, so that it is compiled once for all functions.
fn derived(
    name: String,
    description: String,
    function: BoxedFunction<hub::AnyCallToolResult>,
    output: Output,
) -> Result<ToolRoute, RouteError> {
    let (shown, accepted) = match function.signature.args(KIND, &name)? {
        None => (no_arguments(), no_arguments()),
        Some(args) => {
            let schema::Input { shown, accepted } = (args.schema)();
            let object_root = |schema| object_root(&name, ARGUMENTS, args.name, schema);
            (object_root(shown)?, object_root(accepted)?)
        }
    };
    let output = output.object_root(&name)?;
    let input = validator(&name, "input schema", &accepted.into())?;
    let mut tool = hub::Tool::new(name, shown).with_description(description);
    tool.output_schema = output.map(RawObject::from);
    ToolRoute::new(tool, input, function)
}

/// Makes a tool with schemas that are written by hand.
fn written(
    tool: hub::Tool,
    function: BoxedFunction<hub::AnyCallToolResult>,
    output: Output,
) -> Result<ToolRoute, RouteError> {
    output.object_root(&tool.name)?;
    let input = validator(&tool.name, "input schema", &tool.input_schema)?;
    ToolRoute::new(tool, input, function)
}

/// Makes a description from the lines of a doc comment.
#[doc(hidden)]
pub fn description(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines
        .iter()
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    lines.join("\n").trim().to_owned()
}

impl ToolRoute {
    fn new(
        tool: hub::Tool,
        input: Arc<Validator>,
        function: BoxedFunction<hub::AnyCallToolResult>,
    ) -> Result<Self, RouteError> {
        let output = tool.output_schema.as_ref();
        let output = output
            .map(|schema| validator(&tool.name, "output schema", schema))
            .transpose()?;
        Ok(Self {
            mirrored: MirroredTool::of(&tool),
            tool,
            input,
            output,
            function,
            around: None,
        })
    }

    /// A tool that a function has listed.
    pub(super) fn listed(tool: hub::Tool, function: BoxedFunction<hub::AnyCallToolResult>) -> Result<Self, RouteError> {
        let input = validator(&tool.name, "input schema", &tool.input_schema)?;
        Self::new(tool, input, function)
    }

    /// Sets the title, a name for people to read.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.tool.title = Some(title.into());
        self
    }

    /// Adds the hint that the tool changes nothing. Without it, clients assume that it does.
    ///
    /// ```
    /// use mcp_runtime::Router;
    /// use mcp_runtime::router::tool;
    ///
    /// let router = Router::new("notes", "1.0")
    ///     .with(tool("count", "Counts the notes", || 0).read_only().open_world(false))
    ///     .with(tool("archive", "Archives the notes", || "archived").destructive(false).idempotent());
    /// ```
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.hints().read_only_hint = Some(true);
        self
    }

    /// Adds the hint that repeating a call with the same arguments changes nothing more. Without it, clients assume
    /// that it does.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.hints().idempotent_hint = Some(true);
        self
    }

    /// Adds the hint whether the tool may destroy or overwrite something, rather than only add to it. Without it,
    /// clients assume that it may.
    #[must_use]
    pub fn destructive(mut self, may_destroy: bool) -> Self {
        self.hints().destructive_hint = Some(may_destroy);
        self
    }

    /// Adds the hint whether the tool interacts with the world outside of the server, such as the web. Without it,
    /// clients assume that it does.
    #[must_use]
    pub fn open_world(mut self, is_open: bool) -> Self {
        self.hints().open_world_hint = Some(is_open);
        self
    }

    fn hints(&mut self) -> &mut hub::ToolAnnotations {
        self.tool.annotations.get_or_insert_default()
    }

    /// Sets the hints about what the tool does, and replaces all previous ones.
    #[must_use]
    pub fn annotations(mut self, annotations: hub::ToolAnnotations) -> Self {
        self.tool.annotations = Some(annotations);
        self
    }

    /// Sets the icons.
    #[must_use]
    pub fn icons(mut self, icons: Vec<hub::Icon>) -> Self {
        self.tool.icons = Some(icons);
        self
    }

    /// Adds a member to the tool's `_meta`, such as one of an extension, or replaces the one with the same key.
    ///
    /// ```
    /// use mcp_runtime::router::tool;
    /// use serde_json::json;
    ///
    /// let chart = tool("chart", "Draws a chart", || "drawn").meta("ui", json!({"resourceUri": "ui://chart"}));
    /// ```
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<RawJson>) -> Self {
        let meta = self.tool.meta.take().unwrap_or_default();
        // This can't fail: `RawObject` only holds objects.
        let mut members = RawJson::from(meta).decode_as::<Extra>().unwrap_or_default();
        members.insert(key, value);
        self.tool.meta = RawJson::from_encode(&members).map(RawObject::from).ok();
        self
    }

    /// Adds a member that the protocol doesn't declare, or replaces the one with the same name.
    #[must_use]
    pub fn member(mut self, name: impl Into<String>, value: impl Into<RawJson>) -> Self {
        self.tool.extra.insert(name, value);
        self
    }

    /// Sets another output schema than that of the function's return type, such as one with its own descriptions.
    /// Results are validated by it.
    ///
    /// # Panics
    /// When [`Self::try_output_schema`] returns an error.
    #[must_use]
    #[track_caller]
    pub fn output_schema(self, schema: impl Into<RawObject>) -> Self {
        or_panic(self.try_output_schema(schema))
    }

    /// Sets another output schema, unless it is invalid; see [`Self::output_schema`].
    ///
    /// # Errors
    /// [`RouteError::Schema`] when the schema is invalid.
    pub fn try_output_schema(mut self, schema: impl Into<RawObject>) -> Result<Self, RouteError> {
        let schema = schema.into();
        self.output = Some(validator(&self.tool.name, "output schema", &schema)?);
        self.tool.output_schema = Some(schema);
        Ok(self)
    }

    /// Puts a function around the tool's own function. The one that is added last is the outermost. It gets the call,
    /// whose arguments are valid, and the future of the inner call, which it can await, spawn as a task, or drop. Its
    /// result is the result of the call. It is called again when a client repeats the call with answers to requests for
    /// input.
    ///
    /// ```
    /// use mcp_runtime::router::tool;
    ///
    /// let timed = tool("nap", "Sleeps", || "slept").around(|_, run| Box::pin(async move {
    ///     let begun = std::time::Instant::now();
    ///     let result = run.await;
    ///     println!("the tool took {:?}", begun.elapsed());
    ///     result
    /// }));
    /// ```
    #[must_use]
    pub fn around(mut self, function: impl Fn(Call, ToolRun) -> ToolRun + Send + Sync + 'static) -> Self {
        self.around = Some(match self.around.take() {
            None => Arc::new(function),
            Some(inner) => Arc::new(move |call: Call, run| function(call.clone(), inner(call, run))),
        });
        self
    }

    /// Adds the requirements of an extractor, for a function [around](Self::around) the tool.
    #[must_use]
    pub fn needs<T: FromCall>(mut self) -> Self {
        self.function.needs::<T>();
        self
    }

    /// Replaces references in the schemas that clients are shown by their definitions.
    pub(super) fn inline_schemas(&mut self) {
        let output = self.tool.output_schema.as_mut();
        for schema in [&mut self.tool.input_schema].into_iter().chain(output) {
            // `ToolRoute::new` has parsed both.
            if let Ok(parsed) = RawJson::from(schema.clone()).parse_value() {
                *schema = schema::inlined(&parsed, Inlined::All).into();
            }
        }
        self.mirrored = MirroredTool::of(&self.tool);
    }

    /// Whether a call, or its result, may request input from the client.
    pub(super) fn needs_round(&self) -> bool {
        self.function.needs_round || self.is_wrapped()
    }

    /// Whether the result may request input from the client.
    pub(super) fn may_request_input(&self) -> bool {
        self.function.may_request_input || self.is_wrapped()
    }

    /// Whether other code runs around the function.
    fn is_wrapped(&self) -> bool {
        self.around.is_some() || !self.scope().layers.is_empty()
    }

    /// Checks that the result of the function satisfies the output schema, unless it reports that the tool failed.
    fn checked(
        &self,
        result: Result<hub::AnyCallToolResult, ToolError>,
    ) -> Result<hub::AnyCallToolResult, ErrorObject> {
        let result = match result {
            Ok(hub::AnyCallToolResult::CallTool(result)) => result,
            result => return result.or_else(ToolError::into_result),
        };
        let Some(validator) = self.output.as_ref().filter(|_| result.is_error != Some(true)) else {
            return Ok(result.into());
        };
        let faults = match &result.structured_content {
            Some(content) => match content.parse_value() {
                Ok(value) => faults(validator, &value),
                Err(error) => shortened(&error),
            },
            None => "there is none".to_owned(),
        };
        if faults.is_empty() {
            return Ok(result.into());
        }
        tracing::error!(tool = self.tool.name, %faults, "a tool's structured content violates its output schema");
        let what = "the tool's result doesn't satisfy its output schema";
        Err(internal_error(what))
    }
}

listable!(ToolRoute.tool: Tool);

impl Target for Arc<ToolRoute> {
    messages!(CallTool(CallToolRequest) gives CallTool | InputRequired | Unknown);

    fn layers(&self) -> &Layers {
        &self.scope().layers
    }

    async fn answer(self, request: hub::CallToolRequest, call: Call) -> Result<Answer, ErrorObject> {
        let arguments = request.params.arguments;
        self.mirrored.check(arguments.as_ref(), &call)?;
        let arguments = arguments.unwrap_or_default();
        let result = match accepted(&self.input, arguments) {
            Err(what) => invalid_tool_arguments(&call, what).into_result(),
            Ok(arguments) => {
                let call = self.function.bound(call, Input::Tool(arguments));
                match &self.around {
                    None => self.checked(self.function.run(call).await),
                    Some(around) => {
                        let (route, own) = (Arc::clone(&self), call.clone());
                        let run = Box::pin(async move { route.checked(route.function.run(own).await) });
                        around(call, run).await
                    }
                }
            }
        };
        Ok(Answer::Declared(result?.into()))
    }
}

impl fmt::Debug for ToolRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolRoute").field(&self.tool.name).finish()
    }
}
