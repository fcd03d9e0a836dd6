//! What servers do daily: tools from typed functions, resources, prompts, completion, log messages.

mod call;
mod catalogue;
mod completion;
mod error;
mod faults;
mod page;
mod prompt;
mod resource;
mod route;
mod schema;
mod served;
mod subscriber;
mod template;
mod tool;

use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, error_code};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use self::catalogue::Catalogue;
use self::error::or_panic;
use self::served::Served;
use self::subscriber::{Change, Subscriber};
use crate::future::BoxFuture;
use crate::options::Options;
use crate::session::{ServerSession, serve};
use crate::transport::Transport;

pub use self::call::Call;
pub use self::completion::{Completing, MAX_VALUES};
pub use self::error::RouteError;
pub use self::prompt::{PromptRoute, prompt};
pub use self::resource::{IntoContents, ResourceRoute, resource, resource_not_found};
pub use self::route::Route;
pub use self::template::{TemplateRoute, Variables, resource_template};
pub use self::tool::{IntoToolResult, Structured, ToolRoute, tool, tool_with_schema, try_tool};

/// A function of the router, on the heap.
type Function<A, T> = Arc<dyn Fn(A, Call) -> BoxFuture<'static, Result<T, ErrorObject>> + Send + Sync>;

/// A server made of tools, resources and prompts.
///
/// Clones are the same server: what is added to or removed from one is so for all, and every client that they serve is
/// notified of it.
///
/// ```
/// use mcp_runtime::Router;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Place {
///     /// A city, such as Bern.
///     city: String,
/// }
///
/// let router = Router::new("weather", "1.0").tool("weather", "Tells the weather", |place: Place, _| async move {
///     format!("In {}, the sun shines", place.city)
/// });
/// ```
#[derive(Clone)]
pub struct Router {
    info: hub::Implementation,
    instructions: Option<String>,
    page_size: usize,
    catalogue: Arc<Catalogue>,
}

impl Router {
    /// A server that does nothing yet.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::from(hub::Implementation::new(name, version))
    }

    /// How the server wants to be used.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// How many items a page of a list has, 100 unless this says otherwise. No page is empty.
    #[must_use]
    pub fn page_size(mut self, items: usize) -> Self {
        self.page_size = items.max(1);
        self
    }

    /// With a tool from a typed function; see [`tool()`].
    ///
    /// # Panics
    /// When [`Self::try_tool`] gives an error.
    #[must_use]
    #[track_caller]
    pub fn tool<A, R, F>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(A, Call) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        R: IntoToolResult,
        F: Future<Output = R> + Send + 'static,
    {
        or_panic(self.try_tool(name, description, function))
    }

    /// With a tool from a typed function, unless the router refuses it; see [`tool()`].
    ///
    /// # Errors
    /// Those of [`try_tool`] and of [`Self::insert`].
    pub fn try_tool<A, R, F>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(A, Call) -> F + Send + Sync + 'static,
    ) -> Result<Self, RouteError>
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        R: IntoToolResult,
        F: Future<Output = R> + Send + 'static,
    {
        self.try_with(try_tool(name, description, function)?)
    }

    /// With a tool, resource, resource template or prompt.
    ///
    /// # Panics
    /// When [`Self::try_with`] gives an error.
    #[must_use]
    #[track_caller]
    pub fn with(self, route: impl Into<Route>) -> Self {
        or_panic(self.try_with(route))
    }

    /// With a tool, resource, resource template or prompt, unless the router refuses it.
    ///
    /// # Errors
    /// Those of [`Self::insert`].
    pub fn try_with(self, route: impl Into<Route>) -> Result<Self, RouteError> {
        self.insert(route)?;
        Ok(self)
    }

    /// Adds a tool, resource, resource template or prompt, and tells the clients that the list has changed.
    ///
    /// A client is told only of kinds that the server had any of when the client's session began, for by that it
    /// decides what it routes.
    ///
    /// # Errors
    /// When its name or its address is empty, when the router has one of its kind and name already, and when it would make
    /// the list invalid that clients of some revision get.
    pub fn insert(&self, route: impl Into<Route>) -> Result<(), RouteError> {
        self.catalogue.insert(route.into(), false).map(|_| ())
    }

    /// Adds a tool, resource, resource template or prompt, in the place of one of its kind and name if there is one, and
    /// tells the clients that the list has changed; gives back whether there was one.
    ///
    /// Calls that are running end with the one that they began with. Those who have subscribed to a resource stay
    /// subscribed; [`Self::resource_updated`] tells them that its contents are others.
    ///
    /// # Errors
    /// Those of [`Self::insert`], but for the name that is taken.
    pub fn replace(&self, route: impl Into<Route>) -> Result<bool, RouteError> {
        self.catalogue.insert(route.into(), true)
    }

    /// Takes a tool away, and tells the clients of it; `false` if there was none.
    pub fn remove_tool(&self, name: &str) -> bool {
        let is_gone = self.catalogue.routes.lock().tools.remove(name).is_some();
        self.catalogue.notify_if(is_gone, Change::Tools)
    }

    /// Takes a resource away, and tells the clients of it; `false` if there was none.
    pub fn remove_resource(&self, uri: &str) -> bool {
        let is_gone = self.catalogue.routes.lock().resources.remove(uri).is_some();
        self.catalogue.notify_if(is_gone, Change::Resources)
    }

    /// Takes a resource template away by its text, and tells the clients of it; `false` if there was none.
    pub fn remove_resource_template(&self, uri_template: &str) -> bool {
        let is_gone = self.catalogue.routes.lock().templates.remove(uri_template).is_some();
        self.catalogue.notify_if(is_gone, Change::Resources)
    }

    /// Takes a prompt away, and tells the clients of it; `false` if there was none.
    pub fn remove_prompt(&self, name: &str) -> bool {
        let is_gone = self.catalogue.routes.lock().prompts.remove(name).is_some();
        self.catalogue.notify_if(is_gone, Change::Prompts)
    }

    /// Tells the clients that have subscribed to a resource that it has changed.
    pub fn resource_updated(&self, uri: impl Into<String>) {
        self.catalogue.notify(&Change::Updated(uri.into().into()));
    }

    /// What the server offers: what it has any of, and log messages.
    #[must_use]
    pub fn capabilities(&self) -> hub::ServerCapabilities {
        self.catalogue.routes.lock().capabilities()
    }

    /// Serves a client.
    pub fn serve(self, options: Options, transport: impl Transport) -> ServerSession {
        let capabilities = self.capabilities();
        let (info, instructions) = (self.info.clone(), self.instructions.clone());
        let subscriber = Arc::new(Subscriber::default());
        self.catalogue.admit(&subscriber);
        let handler = Served::new(self, Arc::clone(&subscriber));
        let session = serve(handler, info, capabilities, instructions, options, transport);
        tokio::spawn(subscriber::notify(session.peer().clone(), subscriber));
        session
    }
}

impl From<hub::Implementation> for Router {
    /// A server that says this about itself.
    fn from(info: hub::Implementation) -> Self {
        Self {
            info,
            instructions: None,
            page_size: 100,
            catalogue: Arc::default(),
        }
    }
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let routes = self.catalogue.routes.lock();
        f.debug_struct("Router")
            .field("info", &self.info)
            .field("tools", &routes.tools.keys())
            .field("resources", &routes.resources.keys())
            .field("templates", &routes.templates.keys())
            .field("prompts", &routes.prompts.keys())
            .finish_non_exhaustive()
    }
}

fn invalid(what: impl Display) -> ErrorObject {
    ErrorObject::new(error_code::INVALID_PARAMS, what.to_string())
}
