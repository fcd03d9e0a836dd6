//! A server of a router's tools, resources and prompts.

use mcp_core::{Options, Router};

use super::http_server::HttpServer;

impl HttpServer {
    /// A server of a router's tools, resources and prompts at `/mcp`, for clients on this machine only and of every revision.
    ///
    /// Each session, and each request of a stateless revision, gets a clone of the router. A clone shares what the router has, so it
    /// takes next to no time, and all clients see the same.
    #[must_use]
    pub fn new(router: Router) -> Self {
        Self::with_options(router, Options::default())
    }

    /// The same for clients of the revisions in `options`.
    #[must_use]
    pub fn with_options(router: Router, options: Options) -> Self {
        let revisions = options.supported.clone();
        let server = Self::starting(move |transport, _| drop(router.clone().serve(options.clone(), transport)));
        server.revisions(revisions)
    }
}
