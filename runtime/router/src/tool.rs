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

/// A tool, and the function that it calls; [`tool()`] and [`tool_with_schema()`] make one.
#[derive(Clone)]
pub struct ToolRoute {
    pub(super) tool: hub::Tool,
    input: Arc<Validator>,
    output: Option<Arc<Validator>>,
    pub(super) function: BoxedFunction<hub::AnyCallToolResult>,
    pub(super) mirrored: MirroredTool,
    around: Option<Around>,
}

/// What is around a tool's function.
type Around = Arc<dyn Fn(Call, ToolRun) -> ToolRun + Send + Sync>;

/// A run of a tool's function, with the check of its result.
pub type ToolRun = BoxFuture<'static, Result<hub::AnyCallToolResult, ErrorObject>>;

/// A tool from a function.
///
/// The function takes extractors (see [`FromCall`](super::FromCall)), such as [`Args`](super::Args), whose type derives the input
/// schema. Without `Args`, the tool has no arguments, and what a client sends all the same doesn't matter. It gives text,
/// content, structured content or a `Result` (see [`IntoResult`](super::IntoResult)). The output schema is that of what it gives,
/// if that has one, such as [`Structured`](super::Structured).
///
/// # Panics
/// When [`try_tool`] gives an error, which the types alone decide.
#[track_caller]
pub fn tool<M>(
    name: impl Into<String>,
    description: impl Into<String>,
    function: impl Function<hub::AnyCallToolResult, M>,
) -> ToolRoute {
    or_panic(try_tool(name, description, function))
}

/// A tool from a function, as [`tool()`] makes one.
///
/// # Errors
/// [`RouteError::NoObject`] when not all values of the arguments' type, or of the structured content, are JSON objects,
/// [`RouteError::TwoArgs`] when the function takes [`Args`](super::Args) twice, and [`RouteError::Schema`] when a schema that is
/// written by hand isn't one.
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

/// A tool whose schemas are written by hand. Arguments are validated by the input schema, and not by the one that the type in the
/// function's [`Args`](super::Args) derives: `Args<serde_json::Map<String, Value>>` takes them as JSON.
///
/// # Errors
/// [`RouteError::Schema`] when a schema isn't one, and [`RouteError::NoObject`] when the function gives structured content
/// that is not always a JSON object.
pub fn tool_with_schema<M, H: Function<hub::AnyCallToolResult, M>>(
    tool: hub::Tool,
    function: H,
) -> Result<ToolRoute, RouteError> {
    written(tool, BoxedFunction::new(function), Output::of::<M, H>())
}

/// A tool with the schemas that its types derive. A program has many functions, and this once.
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

/// A tool with schemas that are written by hand.
fn written(
    tool: hub::Tool,
    function: BoxedFunction<hub::AnyCallToolResult>,
    output: Output,
) -> Result<ToolRoute, RouteError> {
    output.object_root(&tool.name)?;
    let input = validator(&tool.name, "input schema", &tool.input_schema)?;
    ToolRoute::new(tool, input, function)
}

/// The lines of a doc comment as a description.
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

    /// With a name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.tool.title = Some(title.into());
        self
    }

    /// With the hint that the tool changes nothing. Without it, clients assume that it does.
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

    /// With the hint that a call that is repeated with the same arguments changes nothing more. Without it, clients assume that it does.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.hints().idempotent_hint = Some(true);
        self
    }

    /// With the hint whether the tool may destroy or overwrite something, rather than only add to it. Without it, clients assume that it
    /// may.
    #[must_use]
    pub fn destructive(mut self, may_destroy: bool) -> Self {
        self.hints().destructive_hint = Some(may_destroy);
        self
    }

    /// With the hint whether the tool deals with what is outside of the server, such as the web. Without it, clients assume that it does.
    #[must_use]
    pub fn open_world(mut self, is_open: bool) -> Self {
        self.hints().open_world_hint = Some(is_open);
        self
    }

    fn hints(&mut self) -> &mut hub::ToolAnnotations {
        self.tool.annotations.get_or_insert_default()
    }

    /// With these hints about what the tool does, in the place of all that it has.
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

    /// With a member of its `_meta`, such as one of an extension. One of the same key is replaced.
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
        // An object that isn't one any more would have been refused by its type.
        let mut members = RawJson::from(meta).decode_as::<Extra>().unwrap_or_default();
        members.insert(key, value);
        self.tool.meta = RawJson::from_encode(&members).map(RawObject::from).ok();
        self
    }

    /// With a member that the protocol doesn't declare. One of the same name is replaced.
    #[must_use]
    pub fn member(mut self, name: impl Into<String>, value: impl Into<RawJson>) -> Self {
        self.tool.extra.insert(name, value);
        self
    }

    /// With another output schema than that of what the function gives, such as one with descriptions of its own. Results are checked by
    /// it.
    ///
    /// # Panics
    /// When [`Self::try_output_schema`] gives an error.
    #[must_use]
    #[track_caller]
    pub fn output_schema(self, schema: impl Into<RawObject>) -> Self {
        or_panic(self.try_output_schema(schema))
    }

    /// With another output schema; see [`Self::output_schema`].
    ///
    /// # Errors
    /// [`RouteError::Schema`] when the schema isn't one.
    pub fn try_output_schema(mut self, schema: impl Into<RawObject>) -> Result<Self, RouteError> {
        let schema = schema.into();
        self.output = Some(validator(&self.tool.name, "output schema", &schema)?);
        self.tool.output_schema = Some(schema);
        Ok(self)
    }

    /// Puts a function around the tool: of several, the last is the outermost. It gets the call, whose arguments are valid, and the run of the
    /// tool's own function, which it may await, put into a task, or leave; what it gives is the result of the call. It is called
    /// again when the client repeats the call with an answer.
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

    /// Adds what an extractor needs, for a function that is [around](Self::around) the tool.
    #[must_use]
    pub fn needs<T: FromCall>(mut self) -> Self {
        self.function.needs::<T>();
        self
    }

    /// Writes the schemas that clients are shown without references.
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

    /// Whether the result may ask the client questions.
    pub(super) fn may_ask(&self) -> bool {
        self.function.may_ask || self.around.is_some() || !self.scope().layers.is_empty()
    }

    /// The result of the function: what the output schema promises, unless it says that it failed.
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
        tracing::error!(tool = self.tool.name, %faults, "a tool's structured content isn't what its schema promises");
        let what = "the tool's result isn't what its output schema promises";
        Err(internal_error(what))
    }
}

listable!(ToolRoute.tool: Tool);

impl Target for Arc<ToolRoute> {
    messages!(CallTool(CallToolRequest) gives CallTool | InputRequired | Unknown);

    fn layers(&self) -> &Layers {
        &self.scope().layers
    }

    async fn answer(self, request: Box<hub::CallToolRequest>, call: Call) -> Result<Answer, ErrorObject> {
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
