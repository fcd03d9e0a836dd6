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

/// The context of a call to a function of the router: the [`Context`] of the request, what the request asks for, and the
/// router. Extractors read it. Clones belong to the same call.
#[derive(Debug, Clone)]
pub struct Call {
    context: Arc<Context<ServerSide>>,
    /// `None` until a function is called.
    input: Option<Arc<Input>>,
    states: States,
    /// The name or URI of what is called, as in the router that it was added to.
    name: Arc<str>,
    /// What the router shares with its clones. The type is erased because it is made of functions that take a `Call`.
    router: Arc<dyn Any + Send + Sync>,
}

/// What a request asks for.
#[derive(Debug)]
pub(super) enum Input {
    /// A tool with these arguments, which its schema accepts.
    Tool(ToolArguments),
    /// A prompt with these arguments.
    Prompt(Value),
    /// A resource, with the values of the variables if a template matches its URI.
    Resource {
        uri: String,
        mime_type: Option<String>,
        variables: Option<Value>,
    },
    /// What a function lists.
    List,
    /// A method that no revision declares, or a notification, with these parameters.
    Custom(Value),
    /// What not every hub has: a completion, or a method of one revision alone.
    Other(Box<dyn Any + Send + Sync>),
}

/// The arguments of a tool. Extractors decode them from their text, which is parsed as a tree only if somebody asks for that.
#[derive(Debug)]
pub(super) struct ToolArguments {
    json: RawObject,
    tree: OnceLock<Value>,
}

impl ToolArguments {
    /// Arguments that a schema accepts.
    pub(super) fn new(json: RawObject) -> Self {
        let tree = OnceLock::new();
        Self { json, tree }
    }

    /// The same, whose tree is known.
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

    /// The call of a function that has this name and these states.
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

    /// The input, if it is a value of this type in [`Input::Other`].
    pub(super) fn other_input<T: 'static>(&self) -> Option<&T> {
        match self.input()? {
            Input::Other(input) => input.downcast_ref(),
            _ => None,
        }
    }

    /// A state of the router, if there is one of this type; see [`Router::with_state`](super::Router::with_state).
    #[must_use]
    pub fn state<T: 'static>(&self) -> Option<&T> {
        self.states.get()
    }

    /// The arguments of a tool or a prompt, the values of a resource template's variables, or the parameters of a custom method
    /// or a notification.
    #[must_use]
    pub fn arguments(&self) -> Option<&Value> {
        match self.input()? {
            Input::Tool(arguments) => Some(arguments.tree()),
            Input::Prompt(arguments) | Input::Custom(arguments) => Some(arguments),
            Input::Resource { variables, .. } => variables.as_ref(),
            Input::List | Input::Other(_) => None,
        }
    }

    /// Sends the client a log message, if the client wants messages of this level. In a session, it gets every message until
    /// it sets a level. A stateless client gets those of the level that its request names, and none if it names none.
    ///
    /// # Errors
    /// When it can't be sent, or when no function of the router took a `Call` or a `Peer` when the session began: the server hasn't
    /// declared log messages then.
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
