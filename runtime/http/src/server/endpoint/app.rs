//! A server of a router's tools, resources and prompts.

use mcp_core::{Options, Router};

use super::super::config::HttpServer;
use super::router;

impl HttpServer {
    /// An axum router that serves the tools, resources and prompts of a [`Router`] to clients of the revisions in `options`.
    ///
    /// Each session, and each request of a stateless revision, gets a clone of the router. A clone shares what the router has, so it
    /// takes next to no time, and all clients see the same.
    ///
    /// ```
    /// use mcp_runtime::transport::http::server::HttpServer;
    /// use mcp_runtime::{Options, Router};
    ///
    /// let weather = Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny");
    /// let app = HttpServer::new().allow_host("tools.example").app(weather, Options::default());
    /// # let _: axum::Router = app;
    /// ```
    ///
    /// Another engine, or a router for each client, is served by [`router`].
    ///
    /// # Panics
    /// When a path doesn't begin with a slash, or two are the same.
    pub fn app(self, tools: Router, options: Options) -> axum::Router {
        let server = self.revisions(options.supported.clone());
        router(server, move |transport, _| {
            drop(tools.clone().serve(options.clone(), transport));
        })
    }
}
