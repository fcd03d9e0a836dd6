//! A server as a function of AWS Lambda, which takes events of an API gateway or of a function URL.

use mcp_runtime::transport::http::server::HttpServer;

use crate::weather;

/// The server, for requests to this host. The service of `lambda_http` takes it as it is: `lambda_http::run(server(host))`.
///
/// Functions share no memory, so there are no sessions, and a response is one JSON value.
pub fn server(host: &str) -> HttpServer {
    HttpServer::new(weather())
        .stateless(true)
        .json_only(true)
        .allow_host(host)
}
