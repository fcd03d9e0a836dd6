//! Routers made of others, and of handlers.

use std::sync::Arc;

use mcp_adapters::hub;
use mcp_runtime_core::{Context, Handler, Middleware, ServerSide};

use super::entry::Listed;
use super::error::{RouteError, or_panic};
use super::fallback::Fallback;
use crate::Router;

impl Router {
    /// Adds the routes that another router has now. They keep their states, and the filters and the middleware of that router; its
    /// other settings, such as its instructions and its fallback, aren't taken.
    ///
    /// # Panics
    /// When [`Self::try_merge`] gives an error.
    #[must_use]
    #[track_caller]
    pub fn merge(self, other: &Self) -> Self {
        or_panic(self.try_merge(other))
    }

    /// Adds the routes of another router; see [`Self::merge`].
    ///
    /// # Errors
    /// When both have a route of the same kind and name. Those before it are added.
    pub fn try_merge(self, other: &Self) -> Result<Self, RouteError> {
        self.try_nest("", other)
    }

    /// Adds the routes of another router as [`Self::merge`] does, with a prefix before the names of tools and prompts. The URIs of
    /// resources stay as they are.
    ///
    /// ```
    /// use mcp_runtime::Router;
    ///
    /// let git = Router::new("git", "1.0").tool("log", "Shows the history", || "nothing yet");
    /// let tools = Router::new("tools", "1.0").nest("git_", &git);
    /// ```
    ///
    /// # Panics
    /// When [`Self::try_nest`] gives an error.
    #[must_use]
    #[track_caller]
    pub fn nest(self, prefix: &str, other: &Self) -> Self {
        or_panic(self.try_nest(prefix, other))
    }

    /// Adds the routes of another router with a prefix; see [`Self::nest`].
    ///
    /// # Errors
    /// When both have a route of the same kind and name, and when a list with the prefixed name is invalid in some revision. The
    /// routes before it are added.
    pub fn try_nest(self, prefix: &str, other: &Self) -> Result<Self, RouteError> {
        let (own, other) = (&self.inner, &other.inner);
        own.catalogue.merge(&other.catalogue, prefix, &other.scope)?;
        Ok(self)
    }

    /// Shows a client only the routes for which this is `true`, decided for each request. What a client doesn't see is unknown to
    /// it: it isn't listed, and can't be called, read or completed. With several filters, each has to agree.
    ///
    /// The capabilities of the server don't depend on filters, and a client may subscribe to a resource that it doesn't see: it
    /// is told that the resource has changed, and nothing else of it.
    ///
    /// ```
    /// use mcp_runtime::Router;
    /// use mcp_runtime::http::request::Parts;
    /// use mcp_runtime::router::Listed;
    ///
    /// #[derive(Clone)]
    /// struct Admin;
    ///
    /// let router = Router::new("files", "1.0")
    ///     .tool("list", "Lists the files", || "none")
    ///     .tool("admin_purge", "Deletes all files", || "purged")
    ///     .filter(|route, context| match route {
    ///         Listed::Tool(tool) if tool.name.starts_with("admin_") => {
    ///             let request = context.extensions().get::<Parts>();
    ///             request.is_some_and(|request| request.extensions.get::<Admin>().is_some())
    ///         }
    ///         _ => true,
    ///     });
    /// ```
    #[must_use]
    pub fn filter(
        mut self,
        filter: impl Fn(&Listed<'_>, &Context<ServerSide>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.inner_mut().scope.filters.push(Arc::new(filter));
        self
    }

    /// Adds middleware around the handling of requests and notifications of the clients that this router [serves](Self::serve): of
    /// several, the last is the outermost.
    ///
    /// In a router that takes the routes of this one, it is around requests for them, within the middleware of that router. It gets
    /// no lists and no notifications there, and names with the prefix. Of a function that asks a stateless client, it sees the
    /// last run complete; in the runs that end with a question, its future is dropped.
    #[must_use]
    pub fn layer(mut self, middleware: impl Middleware<ServerSide>) -> Self {
        self.inner_mut().scope.layer(Arc::new(middleware));
        self
    }

    /// Lets a handler answer what the router doesn't have, such as another router or a proxy: calls of tools, prompts and resources
    /// that it doesn't know or show, and methods that the protocol doesn't declare. `capabilities` are those of the handler, which the
    /// router declares beside its own: the handler isn't asked for anything else that the protocol declares. Its lists follow the
    /// router's, from the last page of those on. It has no list that it answers with "method not found".
    ///
    /// The handler may be a [`ServerHandler`](mcp_runtime_core::ServerHandler) or a router, which answers without its own [middleware](Self::layer), which [`Self::merge`] keeps.
    #[must_use]
    pub fn fallback(mut self, capabilities: hub::ServerCapabilities, handler: impl Handler<ServerSide>) -> Self {
        self.inner_mut().fallback = Some(Fallback::new(capabilities, handler));
        self
    }
}
