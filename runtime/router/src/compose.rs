//! Composition of routers with other routers, filters, middleware and a fallback handler.

use std::sync::Arc;

use mcp_adapters::hub;
use mcp_runtime_core::{Context, Handler, Middleware, ServerSide};

use super::entry::ListEntry;
use super::error::{RouteError, or_panic};
use super::fallback::Fallback;
use crate::Router;

impl Router {
    /// Adds the current routes of another router. They keep their states and that router's filters and middleware. Its
    /// other settings, such as its instructions and its fallback, aren't copied.
    ///
    /// # Panics
    /// When [`Self::try_merge`] returns an error.
    #[must_use]
    #[track_caller]
    pub fn merge(self, other: &Self) -> Self {
        or_panic(self.try_merge(other))
    }

    /// Adds the routes of another router; see [`Self::merge`].
    ///
    /// # Errors
    /// When both routers have a route of the same kind and name. The routes before it have been added.
    pub fn try_merge(self, other: &Self) -> Result<Self, RouteError> {
        self.try_nest("", other)
    }

    /// Adds the routes of another router as [`Self::merge`] does, with a prefix before the names of tools and prompts.
    /// The URIs of resources stay as they are. The other router's filters get the names without the prefix, and its
    /// middleware gets requests with it.
    ///
    /// ```
    /// use mcp_runtime::Router;
    ///
    /// let git = Router::new("git", "1.0").tool("log", "Shows the history", || "nothing yet");
    /// let tools = Router::new("tools", "1.0").nest("git_", &git);
    /// ```
    ///
    /// # Panics
    /// When [`Self::try_nest`] returns an error.
    #[must_use]
    #[track_caller]
    pub fn nest(self, prefix: &str, other: &Self) -> Self {
        or_panic(self.try_nest(prefix, other))
    }

    /// Adds the routes of another router with a prefix; see [`Self::nest`].
    ///
    /// # Errors
    /// When both routers have a route of the same kind and name, and when a list with the prefixed name is invalid in
    /// some revision. The routes before it have been added.
    pub fn try_nest(self, prefix: &str, other: &Self) -> Result<Self, RouteError> {
        let (own, other) = (&self.inner, &other.inner);
        own.catalogue.merge(&other.catalogue, prefix, &other.scope)?;
        Ok(self)
    }

    /// Shows clients only the routes for which the filter returns `true`. The filter is called for each request. A
    /// hidden route doesn't exist for the client: it isn't listed, and can't be called, read or completed. With several
    /// filters, all of them have to return `true`.
    ///
    /// The capabilities of the server don't depend on filters. A client can also subscribe to a hidden resource: it is
    /// notified that the resource has changed, but learns nothing else about it.
    ///
    /// ```
    /// use mcp_runtime::Router;
    /// use mcp_runtime::http::request::Parts;
    /// use mcp_runtime::router::ListEntry;
    ///
    /// #[derive(Clone)]
    /// struct Admin;
    ///
    /// let router = Router::new("files", "1.0")
    ///     .tool("list", "Lists the files", || "none")
    ///     .tool("admin_purge", "Deletes all files", || "purged")
    ///     .filter(|route, context| match route {
    ///         ListEntry::Tool(tool) if tool.name.starts_with("admin_") => {
    ///             let request = context.extensions().get::<Parts>();
    ///             request.is_some_and(|request| request.extensions.get::<Admin>().is_some())
    ///         }
    ///         _ => true,
    ///     });
    /// ```
    #[must_use]
    pub fn filter(
        mut self,
        filter: impl Fn(&ListEntry<'_>, &Context<ServerSide>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.inner_mut().scope.filters.push(Arc::new(filter));
        self
    }

    /// Adds middleware around the handling of requests and notifications of the clients that this router
    /// [serves](Self::serve). The middleware that is added last is the outermost.
    ///
    /// If another router [merges](Self::merge) this one, the middleware is around requests for this router's routes,
    /// within the middleware of the other router. There it handles no lists and no notifications, and names have the
    /// prefix. If a function requests input from a stateless client, the function runs several times: the middleware's
    /// future is dropped in the runs that end with a request for input, and completes only in the last run.
    #[must_use]
    pub fn layer(mut self, middleware: impl Middleware<ServerSide>) -> Self {
        self.inner_mut().scope.layer(Arc::new(middleware));
        self
    }

    /// Sets a handler, such as another router or a proxy, for requests that the router itself can't answer: requests
    /// for tools, prompts and resources that are unknown or hidden, and methods that the protocol doesn't declare.
    /// `capabilities` are the handler's, which the router declares in addition to its own. A request of a method that
    /// the protocol declares reaches the handler only if `capabilities` include the capability that the method needs.
    /// The handler's lists are appended to the router's, starting on the router's last page. A list is omitted if the
    /// handler's response to the request for it is "method not found".
    ///
    /// The handler may be a [`ServerHandler`](mcp_runtime_core::ServerHandler) or a router. A router used as a fallback
    /// answers without its own [middleware](Self::layer); [`Self::merge`] keeps it.
    #[must_use]
    pub fn fallback(mut self, capabilities: hub::ServerCapabilities, handler: impl Handler<ServerSide>) -> Self {
        self.inner_mut().fallback = Some(Fallback::new(capabilities, handler));
        self
    }
}
