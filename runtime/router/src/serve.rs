//! Serving clients with a router.

use std::sync::Arc;

use mcp_adapters::hub;
use mcp_runtime_core::internal::{
    DynTransport, Server, ServerInfo, Shared, Subscriptions, start_server, to_value, with_extra,
};
use mcp_runtime_core::transport::Transport;
use mcp_runtime_core::{Layered, Limits, Options, Responder, ServeClient, ServerSession, ServerSide};

use super::catalogue::Routes;
use super::tool_error::resource_not_found;
use crate::Router;

impl Router {
    /// The capabilities of the server: those of its kinds of routes and of its fallback, logging if a function takes a
    /// [`Call`](super::Call) or a [`Peer`](mcp_runtime_core::Peer), its extensions, and those that
    /// [`Self::with_capabilities`] adds.
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

    /// The server that clients see. Sessions share it until a route changes.
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
        self.start(options, transport.into())
    }

    /// Serves a client over any transport. Not generic, so that the code of sessions is compiled with the router.
    fn start(self, options: Options, transport: DynTransport) -> ServerSession {
        let (server, subscriptions) = (self.server(), self.subscriptions(&options.limits));
        self.inner.catalogue.add_session(&subscriptions);
        start_server(self.layered(), server, subscriptions, options, transport)
    }

    /// Turns the router into a function from a request of a stateless revision to its response.
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

    /// The router within its middleware.
    fn layered(self) -> Layered<ServerSide> {
        let layers = Arc::clone(&self.inner.scope.layers);
        Layered::from(self).layers(&layers)
    }

    /// Creates the subscriptions of a client. The router notifies them after
    /// [`Catalogue::add_session`](super::catalogue::Catalogue::add_session).
    fn subscriptions(&self, limits: &Limits) -> Arc<Subscriptions> {
        let catalogue = Arc::clone(&self.inner.catalogue);
        let check = move |uri: &str| match catalogue.routes().has_resource(uri) {
            true => Ok(()),
            false => Err(resource_not_found(uri)),
        };
        let catalogue = Arc::clone(&self.inner.catalogue);
        let shared = Shared {
            budget: Arc::clone(&catalogue.subscribed),
            check: Box::new(check),
            notify: Box::new(move |change| catalogue.notify(change)),
        };
        Subscriptions::new(limits, Some(shared))
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
