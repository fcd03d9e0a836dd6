//! A server made of tools from typed functions, resources and prompts.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod ask;
mod caching;
mod call;
mod catalogue;
mod completion;
mod compose;
mod content;
mod custom;
mod error;
mod extension;
mod extract;
mod fallback;
mod faults;
mod function;
mod handler;
mod list;
mod member_order;
mod method;
mod methods;
pub mod middleware;
mod mirrored;
mod page;
mod prompt;
mod resource;
mod result;
mod route;
mod schema;
mod scope;
mod shared;
mod sources;
mod state;
mod target;
mod template;
mod tool;
mod tool_error;
mod uri_template;

// rustfmt doesn't look for modules in macros.
#[cfg(rustfmt)]
mod completer;

if_hub_has! { CompleteRequest {
    mod completer;

    pub use self::completer::{CompletionRequest, MAX_VALUES};
} }

use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::{hub, if_hub_has};
use mcp_runtime_core::internal::{
    Mutex, Server, ServerInfo, Shared, Subscriptions, start_server, to_value, with_extra,
};
use mcp_runtime_core::transport::Transport;
use mcp_runtime_core::{Change, Layered, Limits, Options, Responder, ServeClient, ServerSession, ServerSide};

use self::caching::Caching;
use self::catalogue::{Catalogue, Routes};
use self::error::or_panic;
use self::fallback::Fallback;
use self::scope::Scope;
use self::state::States;

pub use self::ask::{Answer, Form};
pub use self::call::Call;
pub use self::content::{Structured, audio, image};
pub use self::error::RouteError;
pub use self::extension::{CoreMethods, ExtensionSubscription, ServerExtension};
pub use self::extract::{Args, Extension, FromCall, Meta, Name, ProgressReporter, Signature, State, Uri};
pub use self::function::{Awaited, Callable, Function, Immediate, Returns};
pub use self::method::{MethodParameters, MethodReturns};
pub use self::prompt::{PromptRoute, prompt};
pub use self::resource::{ResourceRoute, resource};
pub use self::result::{Blob, IntoResult};
pub use self::route::Route;
pub use self::scope::Listed;
pub use self::shared::ChangeStore;
pub use self::template::{TemplateRoute, resource_template};
pub use self::tool::{ToolRoute, ToolRun, description, tool, tool_with_schema, try_tool};
pub use self::tool_error::{ToolError, resource_not_found};

/// A server made of tools, resources and prompts.
///
/// Clones share their routes: a change through one of them is a change of all, and every client that they serve is
/// notified of it.
///
/// Its functions take what they need, in any order, and may be async; see [`FromCall`] for what they can take and [`IntoResult`]
/// for what they can give.
///
/// ```
/// use std::sync::Arc;
///
/// use mcp_runtime::Router;
/// use mcp_runtime::router::{Args, State};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// struct Stations(Vec<(String, f64)>);
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Location {
///     /// A city, such as Bern.
///     city: String,
/// }
///
/// async fn weather(State(stations): State<Arc<Stations>>, Args(location): Args<Location>) -> Result<String, String> {
///     let station = stations.0.iter().find(|(city, _)| *city == location.city);
///     let (_, celsius) = station.ok_or("nobody measures there")?;
///     Ok(format!("{celsius} °C"))
/// }
///
/// let router = Router::new("weather", "1.0")
///     .with_state(Arc::new(Stations(vec![("Bern".to_owned(), 21.5)])))
///     .tool("weather", "Get the current weather of a city", weather)
///     .tool("ping", "Answers", || "pong")
///     .prompt("report", "Asks for a report", || "Write a report on the weather.");
/// ```
#[derive(Clone)]
pub struct Router {
    inner: Arc<Inner>,
}

/// The settings of a router, and its routes.
#[derive(Clone)]
struct Inner {
    info: hub::Implementation,
    instructions: Option<String>,
    page_size: usize,
    /// That of lists.
    caching: Caching,
    /// Those that no route shows.
    capabilities: hub::ServerCapabilities,
    scope: Scope,
    fallback: Option<Fallback>,
    states: States,
    /// Whether the schemas of tools refer to nothing.
    inlines_schemas: bool,
    /// The routes, which clones share after a setting has changed as well.
    catalogue: Arc<Catalogue>,
    server: Arc<KnownServer>,
}

/// The server of a router's settings and of a version of its routes.
type KnownServer = Mutex<Option<(u64, Arc<Server>)>>;

impl Router {
    /// A server without routes.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::from(hub::Implementation::new(name, version))
    }

    fn inner_mut(&mut self) -> &mut Inner {
        let inner = Arc::make_mut(&mut self.inner);
        inner.server = Arc::default();
        inner
    }

    /// Sets the instructions for the use of the server.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.inner_mut().instructions = Some(instructions.into());
        self
    }

    /// Sets the number of items on a page of a list. The default is 100, the minimum 1.
    #[must_use]
    pub fn page_size(mut self, items: usize) -> Self {
        self.inner_mut().page_size = items.max(1);
        self
    }

    /// Sets how long clients may keep the lists, and who may share them: `ttlMs` and `cacheScope`. Private lists are for
    /// clients with the same authorization. By default they may not be kept.
    ///
    /// Clients that listen to changes of a list are told when it changes earlier.
    /// [`ResourceRoute::cache`] and [`TemplateRoute::cache`] are for the contents of resources.
    ///
    /// [Specification](https://modelcontextprotocol.io/specification/2026-07-28/schema#cacheableresult)
    #[must_use]
    pub fn cache(mut self, ttl: Duration, scope: hub::CacheScope) -> Self {
        self.inner_mut().caching = Caching::new(ttl, scope);
        self
    }

    /// Declares capabilities beside those of the routes, such as extensions of the protocol, or `logging` for middleware.
    ///
    /// ```
    /// use mcp_runtime::{Router, hub};
    /// use serde_json::json;
    ///
    /// let extensions = [("org.example/votes".to_owned(), json!({}).into())];
    /// let capabilities = hub::ServerCapabilities::default().with_extensions(extensions.into_iter().collect());
    /// let router = Router::new("wiki", "1.0").with_capabilities(capabilities);
    /// ```
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: hub::ServerCapabilities) -> Self {
        self.inner_mut().capabilities = capabilities;
        self
    }

    /// Adds a value of the server for functions that take [`State<T>`](State): a pool of connections, or an `Arc` of something.
    /// Each function gets a clone. Routes that are added after this, through this router, have it. A later value of the same type
    /// takes its place.
    #[must_use]
    pub fn with_state<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.inner_mut().states.insert(value);
        self
    }

    /// Writes the schemas of tools without references, for clients that can't resolve them: each type is written wherever it occurs,
    /// except for those that contain themselves. By default, a type that occurs several times is written once, below `$defs`. Tools that
    /// are added after this, through this router, are listed so.
    #[must_use]
    pub fn inline_schemas(mut self, inlines: bool) -> Self {
        self.inner_mut().inlines_schemas = inlines;
        self
    }

    /// Adds a tool from a function; see [`tool()`].
    ///
    /// # Panics
    /// When [`Self::try_tool`] gives an error.
    #[must_use]
    #[track_caller]
    pub fn tool<M>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Function<hub::AnyCallToolResult, M>,
    ) -> Self {
        or_panic(self.try_tool(name, description, function))
    }

    /// Adds a tool from a function, unless the router refuses it; see [`tool()`].
    ///
    /// # Errors
    /// Those of [`try_tool`] and of [`Self::insert`].
    pub fn try_tool<M>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Function<hub::AnyCallToolResult, M>,
    ) -> Result<Self, RouteError> {
        self.try_with(try_tool(name, description, function)?)
    }

    /// Adds a prompt from a function; see [`prompt()`], which takes a prompt with more than a name and a description.
    ///
    /// # Panics
    /// When [`Self::try_prompt`] gives an error.
    #[must_use]
    #[track_caller]
    pub fn prompt<M>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Function<hub::GetPromptResult, M>,
    ) -> Self {
        or_panic(self.try_prompt(name, description, function))
    }

    /// Adds a prompt from a function, unless the router refuses it; see [`prompt()`].
    ///
    /// # Errors
    /// Those of [`Self::insert`].
    pub fn try_prompt<M>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Function<hub::GetPromptResult, M>,
    ) -> Result<Self, RouteError> {
        self.try_with(prompt(hub::Prompt::new(name).with_description(description), function))
    }

    /// Adds a tool, resource, resource template or prompt.
    ///
    /// # Panics
    /// When [`Self::try_with`] gives an error.
    #[must_use]
    #[track_caller]
    pub fn with(self, route: impl Into<Route>) -> Self {
        or_panic(self.try_with(route))
    }

    /// Adds a tool, resource, resource template or prompt, unless the router refuses it.
    ///
    /// # Errors
    /// Those of [`Self::insert`].
    pub fn try_with(self, route: impl Into<Route>) -> Result<Self, RouteError> {
        self.insert(route)?;
        Ok(self)
    }

    /// Adds a tool, resource, resource template or prompt, and notifies the clients that the list has changed.
    ///
    /// A client is notified only if the server had the capability when the client's session started: if it had any route
    /// of that kind.
    ///
    /// # Errors
    /// When its name or URI is empty, when the router already has a route of its kind and name, when its function takes what it
    /// can't have, such as a state that the router lacks, when it completes an argument that it doesn't have, and when the list
    /// with it is invalid in some revision.
    pub fn insert(&self, route: impl Into<Route>) -> Result<(), RouteError> {
        self.put(route.into(), false).map(|_| ())
    }

    fn put(&self, mut route: Route, may_replace: bool) -> Result<bool, RouteError> {
        if let Route::Tool(tool) = &mut route
            && self.inner.inlines_schemas
        {
            tool.inline_schemas();
        }
        self.inner.catalogue.insert(route, &self.inner.states, may_replace)
    }

    /// Adds a tool, resource, resource template or prompt, or replaces the one of its kind and name, and notifies the
    /// clients that the list has changed. `true` if there was one.
    ///
    /// Running calls continue with the old one. Clients that have subscribed to a resource stay subscribed;
    /// [`Self::resource_updated`] notifies them of its new contents.
    ///
    /// # Errors
    /// Those of [`Self::insert`], except for the duplicate name.
    pub fn replace(&self, route: impl Into<Route>) -> Result<bool, RouteError> {
        self.put(route.into(), true)
    }

    /// Removes a tool, and notifies the clients; `false` if there was none.
    pub fn remove_tool(&self, name: &str) -> bool {
        let remove = |routes: &mut Routes| Arc::make_mut(&mut routes.tools).remove(name);
        self.inner.catalogue.remove(remove, Change::ToolList)
    }

    /// Removes a resource, and notifies the clients; `false` if there was none.
    pub fn remove_resource(&self, uri: &str) -> bool {
        let remove = |routes: &mut Routes| Arc::make_mut(&mut routes.resources).remove(uri);
        self.inner.catalogue.remove(remove, Change::ResourceList)
    }

    /// Removes a resource template by its text, and notifies the clients; `false` if there was none.
    pub fn remove_resource_template(&self, uri_template: &str) -> bool {
        let remove = |routes: &mut Routes| Arc::make_mut(&mut routes.templates).remove(uri_template);
        self.inner.catalogue.remove(remove, Change::ResourceList)
    }

    /// Removes a prompt, and notifies the clients; `false` if there was none.
    pub fn remove_prompt(&self, name: &str) -> bool {
        let remove = |routes: &mut Routes| Arc::make_mut(&mut routes.prompts).remove(name);
        self.inner.catalogue.remove(remove, Change::PromptList)
    }

    /// Notifies the clients that the list of tools has changed: because a [filter](Self::filter) decides otherwise now, for example. Adding
    /// and removing tools notifies them automatically. Those of other instances are notified as well if they
    /// [share changes](Self::share_changes).
    pub fn tools_changed(&self) {
        self.inner.catalogue.notify(&Change::ToolList);
    }

    /// Notifies the clients that the list of resources has changed, such as that of a [template](TemplateRoute::list).
    pub fn resources_changed(&self) {
        self.inner.catalogue.notify(&Change::ResourceList);
    }

    /// Notifies the clients that the list of prompts has changed, as [`Self::tools_changed`] does.
    pub fn prompts_changed(&self) {
        self.inner.catalogue.notify(&Change::PromptList);
    }

    /// Notifies the clients that have subscribed to a resource that it has changed.
    pub fn resource_updated(&self, uri: impl Into<String>) {
        self.inner.catalogue.notify(&Change::Resource(uri.into().into()));
    }

    /// The capabilities of the server: those of its kinds of routes and of its fallback, logging if a function takes a [`Call`] or
    /// a [`Peer`](mcp_runtime_core::Peer), its extensions, and those that [`Self::with_capabilities`] declares.
    #[must_use]
    pub fn capabilities(&self) -> hub::ServerCapabilities {
        self.capabilities_with(&self.inner.catalogue.routes())
    }

    fn capabilities_with(&self, routes: &Routes) -> hub::ServerCapabilities {
        let own = routes.capabilities();
        let none = hub::ServerCapabilities::default();
        let fallback = self.inner.fallback.as_ref().map(|fallback| &fallback.capabilities);
        let extra = fallback.into_iter().chain([&self.inner.capabilities]);
        with_extra(&own, extra.filter(|capabilities| **capabilities != none).map(to_value))
    }

    /// The server that clients see, which sessions share until a route changes.
    fn server(&self) -> Arc<Server> {
        let routes = self.inner.catalogue.routes();
        let mut known = self.inner.server.lock();
        if let Some((version, server)) = &*known
            && *version == routes.version
        {
            return Arc::clone(server);
        }
        let server = Arc::new(Server::from(ServerInfo {
            implementation: self.inner.info.clone(),
            capabilities: self.capabilities_with(&routes),
            instructions: self.inner.instructions.clone(),
            extra_capabilities: routes.extra_capabilities(),
            agreement: None,
        }));
        *known = Some((routes.version, Arc::clone(&server)));
        server
    }

    /// Serves a client.
    pub fn serve(self, options: Options, transport: impl Transport) -> ServerSession {
        let (server, subscriptions) = (self.server(), self.subscriptions(&options.limits));
        self.inner.catalogue.add_session(&subscriptions);
        start_server(self.layered(), server, subscriptions, options, transport)
    }

    /// The router as a function from a request of a stateless revision to its response.
    ///
    /// ```
    /// use mcp_runtime::{Options, Router};
    /// use mcp_runtime::http::Extensions;
    ///
    /// # fn block_on<F: Future>(future: F) -> F::Output {
    /// #     let mut future = std::pin::pin!(future);
    /// #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// #     loop {
    /// #         if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
    /// #             return output;
    /// #         }
    /// #     }
    /// # }
    /// let weather = Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny");
    /// let responder = weather.responder(Options::default());
    /// let request = br#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "weather", "_meta": {
    ///     "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    ///     "io.modelcontextprotocol/clientCapabilities": {}
    /// }}}"#;
    /// let response = block_on(responder.respond(request, Extensions::new())).expect("a request has a response");
    /// assert!(String::from_utf8(response)?.contains("sunny"));
    /// # Ok::<(), std::string::FromUtf8Error>(())
    /// ```
    #[must_use]
    pub fn responder(self, options: Options) -> Responder {
        let subscriptions = self.subscriptions(&options.limits);
        let router = self.clone();
        Responder::new(self.layered(), move || router.server(), subscriptions, options)
    }

    /// The router within the middleware of all its calls.
    fn layered(self) -> Layered<ServerSide> {
        let layers = Arc::clone(&self.inner.scope.layers);
        Layered::from(self).layers(&layers)
    }

    /// What a client listens to, which the router notifies once it knows the session.
    fn subscriptions(&self, limits: &Limits) -> Arc<Subscriptions> {
        let catalogue = Arc::clone(&self.inner.catalogue);
        let check = move |uri: &str| match catalogue.routes().has_resource(uri) {
            true => Ok(()),
            false => Err(resource_not_found(uri)),
        };
        let catalogue = Arc::clone(&self.inner.catalogue);
        let router = self.clone();
        let shared = Shared {
            budget: Arc::clone(&catalogue.subscribed),
            check: Box::new(check),
            extend: Box::new(move |filter, context| {
                let router = router.clone();
                Box::pin(async move { router.extend(filter, router.call(&context)).await })
            }),
            notify: Box::new(move |change| catalogue.notify(change)),
        };
        Subscriptions::new(limits, Some(shared))
    }
}

impl Call {
    /// The router, for adding routes and removing them.
    ///
    /// # Panics
    /// Never: every call comes from a router.
    #[must_use]
    pub fn router(&self) -> Router {
        let inner = self.any_router().downcast();
        Router {
            inner: inner.expect("every call comes from a router"),
        }
    }
}

impl From<hub::Implementation> for Router {
    /// A server without routes.
    fn from(info: hub::Implementation) -> Self {
        Self {
            inner: Arc::new(Inner {
                info,
                instructions: None,
                page_size: 100,
                caching: Caching::default(),
                capabilities: hub::ServerCapabilities::default(),
                scope: Scope::default(),
                fallback: None,
                states: States::default(),
                inlines_schemas: false,
                catalogue: Arc::default(),
                server: Arc::default(),
            }),
        }
    }
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let routes = self.inner.catalogue.routes();
        f.debug_struct("Router")
            .field("info", &self.inner.info)
            .field("tools", &routes.tools.keys())
            .field("resources", &routes.resources.keys())
            .field("templates", &routes.templates.keys())
            .field("prompts", &routes.prompts.keys())
            .field("methods", &routes.methods.keys())
            .finish_non_exhaustive()
    }
}

impl ServeClient for Router {
    fn serve_client(self, options: Options, transport: impl Transport) -> ServerSession {
        self.serve(options, transport)
    }

    fn responder(self, options: Options) -> Responder {
        Router::responder(self, options)
    }
}
