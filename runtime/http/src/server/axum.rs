//! The server as an axum router.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, OriginalUri, Request};
use axum::middleware::map_request;

use super::extensions::ClientAddress;
use super::http_server::HttpServer;
use crate::guard;

impl HttpServer {
    /// Returns an axum router that responds at the [paths](Self::paths) of this server.
    ///
    /// It can be merged into another router, or nested. The server takes the client's address from
    /// [`ConnectInfo<SocketAddr>`](ConnectInfo) or [`ClientAddress`].
    ///
    /// ```
    /// use axum::routing::get;
    /// use mcp_runtime::Router;
    /// use mcp_runtime::transport::http::server::HttpServer;
    ///
    /// let weather = Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny");
    /// let app = HttpServer::new(weather).app().route("/", get(|| async { "The weather is at /mcp" }));
    /// # let _ = app;
    /// ```
    ///
    /// # Panics
    /// When a path doesn't start with a slash, or two are the same.
    pub fn app(self) -> axum::Router {
        let paths = self.paths().into_iter();
        let app = paths.fold(axum::Router::new(), |app, path| app.route_service(&path, self.clone()));
        app.layer(map_request(translate))
    }
}

/// Translates axum's extensions of a request to those of this crate.
async fn translate(mut request: Request) -> Request {
    let extensions = request.extensions_mut();
    if let Some(ConnectInfo(address)) = extensions.get::<ConnectInfo<SocketAddr>>().copied() {
        extensions.insert(ClientAddress(address));
    }
    if let Some(OriginalUri(uri)) = extensions.get::<OriginalUri>().cloned() {
        extensions.insert(guard::OriginalUri(uri));
    }
    request
}
