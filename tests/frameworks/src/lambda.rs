//! A server as an AWS Lambda function, which receives events from an API gateway or a function URL.

use mcp_runtime::transport::http::server::HttpServer;

use crate::weather;

/// Returns the server, for requests to this host. `lambda_http` runs it without an adapter:
/// `lambda_http::run(server(host))`.
///
/// Instances of a function share no memory, so the server has no sessions, and each response is a single JSON value.
pub fn server(host: &str) -> HttpServer {
    HttpServer::new(weather())
        .stateless(true)
        .json_only(true)
        .allow_host(host)
}
