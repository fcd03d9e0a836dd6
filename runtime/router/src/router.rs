//! The router, and its settings.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_runtime_core::internal::Server;
use mcp_runtime_util::Mutex;

use super::caching::Caching;
use super::call::Call;
use super::catalogue::Catalogue;
use super::fallback::Fallback;
use super::scope::Scope;
use super::state::States;

/// A server made of tools, resources and prompts.
///
/// Clones share their routes: a change through one clone applies to all, and every client that they serve is notified
/// of it.
///
/// Its functions take the parameters that they need, in any order, and may be async; see [`FromCall`](super::FromCall)
/// for the types of parameters, and [`IntoResult`](super::IntoResult) for the types of return values.
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
///     let (_, celsius) = station.ok_or("no weather station in this city")?;
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
    pub(super) inner: Arc<Inner>,
}

/// The settings of a router, and its routes.
#[derive(Clone)]
pub(super) struct Inner {
    pub(super) info: hub::Implementation,
    pub(super) instructions: Option<String>,
    pub(super) page_size: usize,
    /// The caching of lists.
    pub(super) caching: Caching,
    /// Declared capabilities in addition to those that follow from the routes.
    pub(super) capabilities: hub::ServerCapabilities,
    pub(super) scope: Scope,
    pub(super) fallback: Option<Fallback>,
    pub(super) states: States,
    /// Whether the schemas of tools are written without references.
    pub(super) inlines_schemas: bool,
    /// The routes. Clones share them even after a setting of one clone has changed.
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) server: Arc<KnownServer>,
}

/// The server that was made from the router's settings and this version of its routes.
type KnownServer = Mutex<Option<(u64, Arc<Server>)>>;

impl Router {
    /// A server without routes.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::from(hub::Implementation::new(name, version))
    }

    pub(super) fn inner_mut(&mut self) -> &mut Inner {
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

    /// Sets how long clients may cache the lists, and who may share them: `ttlMs` and `cacheScope`. Private lists may
    /// only be shared by clients with the same authorization. By default they may not be cached.
    ///
    /// If a list changes earlier, clients that listen to its changes are notified.
    /// [`ResourceRoute::cache`](super::ResourceRoute::cache) and [`TemplateRoute::cache`](super::TemplateRoute::cache)
    /// set the caching of the contents of resources.
    ///
    /// [Specification](https://modelcontextprotocol.io/specification/2026-07-28/schema#cacheableresult)
    #[must_use]
    pub fn cache(mut self, ttl: Duration, scope: hub::CacheScope) -> Self {
        self.inner_mut().caching = Caching::new(ttl, scope);
        self
    }

    /// Declares capabilities in addition to those that follow from the routes, such as extensions of the protocol, or
    /// `logging` for middleware.
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

    /// Adds a value for functions that take [`State<T>`](super::State), such as a pool of connections or an `Arc`. Each
    /// call gets a clone. The value is available to routes that are added to this router afterwards. A later value of
    /// the same type replaces it.
    #[must_use]
    pub fn with_state<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.inner_mut().states.insert(value);
        self
    }

    /// Writes the schemas of tools without references, for clients that can't resolve them: each type is written at
    /// every place where it occurs, except for recursive types. By default, a type that occurs several times is written
    /// once, below `$defs`. This applies to tools that are added to this router afterwards.
    #[must_use]
    pub fn inline_schemas(mut self, inlines: bool) -> Self {
        self.inner_mut().inlines_schemas = inlines;
        self
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

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let routes = self.inner.catalogue.routes();
        let methods = routes.methods.iter().map(|route| (route.name, route.revision));
        f.debug_struct("Router")
            .field("info", &self.inner.info)
            .field("tools", &routes.tools.keys().collect::<Vec<_>>())
            .field("resources", &routes.resources.keys().collect::<Vec<_>>())
            .field("templates", &routes.templates.keys().collect::<Vec<_>>())
            .field("prompts", &routes.prompts.keys().collect::<Vec<_>>())
            .field("methods", &methods.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
