//! The context of a call to a function of the router.

use std::any::Any;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use mcp_adapters::handlers::CallClient;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{RawJson, RawObject};
use mcp_runtime_core::{CallError, Context, ServerSide};
use serde_json::Value;

use super::state::States;

/// The context of a call to a function of the router: the [`Context`] of the request, its input such as arguments or a
/// URI, and the router. Extractors read it. Clones belong to the same call.
#[derive(Debug, Clone)]
pub struct Call {
    context: Arc<Context<ServerSide>>,
    /// `None` until a function is called.
    input: Option<Arc<Input>>,
    states: States,
    /// The name or URI of the called route, without the prefixes of routers that it was nested in.
    name: Arc<str>,
    /// The part of the router that its clones share. Its type is erased because it contains functions that take a
    /// `Call`.
    router: Arc<dyn Any + Send + Sync>,
}

/// The input of a call.
#[derive(Debug)]
pub(super) enum Input {
    /// The arguments of a tool, which its schema accepts.
    Tool(ToolArguments),
    /// The arguments of a prompt.
    Prompt(Value),
    /// The resource to read. `variables` has the values of a template's variables if a template matches the URI.
    Resource {
        uri: String,
        mime_type: Option<String>,
        variables: Option<Value>,
    },
    /// A request for the list that a function makes.
    List,
    /// The parameters of a method that no revision declares, or of a notification.
    Custom(Value),
    /// The input of a method that not every hub has: a completion, or a method that only one revision has.
    Other(Box<dyn Any + Send + Sync>),
}

/// The arguments of a tool. Extractors decode them from their text, which is parsed into a tree only when the tree is
/// requested.
#[derive(Debug)]
pub(super) struct ToolArguments {
    json: RawObject,
    tree: OnceLock<Value>,
}

impl ToolArguments {
    /// Arguments that a schema has accepted, not parsed yet.
    pub(super) fn new(json: RawObject) -> Self {
        let tree = OnceLock::new();
        Self { json, tree }
    }

    /// Arguments that a schema has accepted, already parsed.
    pub(super) fn parsed(json: RawObject, tree: Value) -> Self {
        let tree = OnceLock::from(tree);
        Self { json, tree }
    }

    pub(super) fn text(&self) -> &str {
        self.json.text()
    }

    fn tree(&self) -> &Value {
        // A schema has accepted the text.
        self.tree.get_or_init(|| self.json.parse_value().unwrap_or_default())
    }
}

impl Call {
    pub(super) fn new(context: Context<ServerSide>, router: Arc<dyn Any + Send + Sync>) -> Self {
        Self {
            context: Arc::new(context),
            input: None,
            states: States::default(),
            name: Arc::default(),
            router,
        }
    }

    /// Returns the call with the input, the name and the states of a function.
    pub(super) fn of(mut self, input: Input, name: &Arc<str>, states: &States) -> Self {
        self.input = Some(Arc::new(input));
        self.name = Arc::clone(name);
        self.states = states.clone();
        self
    }

    pub(super) fn context(&self) -> &Context<ServerSide> {
        &self.context
    }

    pub(super) fn with_context(&self, context: Context<ServerSide>) -> Self {
        Self {
            context: Arc::new(context),
            ..self.clone()
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn any_router(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::clone(&self.router)
    }

    pub(super) fn input(&self) -> Option<&Input> {
        self.input.as_deref()
    }

    /// The value in [`Input::Other`], if it has this type.
    pub(super) fn other_input<T: 'static>(&self) -> Option<&T> {
        match self.input()? {
            Input::Other(input) => input.downcast_ref(),
            _ => None,
        }
    }

    /// The state of this type, if the router has one; see [`Router::with_state`](super::Router::with_state).
    #[must_use]
    pub fn state<T: 'static>(&self) -> Option<&T> {
        self.states.get()
    }

    /// The arguments of a tool or a prompt, the values of a resource template's variables, or the parameters of a
    /// custom method or a notification.
    #[must_use]
    pub fn arguments(&self) -> Option<&Value> {
        match self.input()? {
            Input::Tool(arguments) => Some(arguments.tree()),
            Input::Prompt(arguments) | Input::Custom(arguments) => Some(arguments),
            Input::Resource { variables, .. } => variables.as_ref(),
            Input::List | Input::Other(_) => None,
        }
    }

    /// Sends the client a log message, if the client wants messages of this level. A client with a session gets every
    /// message until it sets a level. A stateless client gets messages of the level that its request names, and none if
    /// it names no level.
    ///
    /// # Errors
    /// When it can't be sent, or when no function of the router took a `Call` or a `Peer` at the start of the session:
    /// then the server hasn't declared the logging capability.
    pub async fn log(&self, level: hub::LoggingLevel, data: impl Into<RawJson>) -> Result<(), CallError> {
        let params = hub::LoggingMessageNotificationParams::new(level, data);
        self.peer().notify_logging_message(params).await
    }

    /// Sends the client a log message, as [`Self::log`] does, with the name of the logger.
    ///
    /// # Errors
    /// Those of [`Self::log`].
    pub async fn log_as(
        &self,
        logger: impl Into<String>,
        level: hub::LoggingLevel,
        data: impl Into<RawJson>,
    ) -> Result<(), CallError> {
        let params = hub::LoggingMessageNotificationParams::new(level, data).with_logger(logger);
        self.peer().notify_logging_message(params).await
    }
}

impl Deref for Call {
    type Target = Context<ServerSide>;

    fn deref(&self) -> &Context<ServerSide> {
        &self.context
    }
}
