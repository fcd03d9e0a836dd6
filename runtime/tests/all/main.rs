//! The tests of the runtime, as one program: each would link the whole runtime again.

#[cfg(feature = "apps")]
mod apps;
#[cfg(all(
    feature = "auth",
    feature = "http-client",
    feature = "http-server",
    feature = "router"
))]
mod auth;
#[cfg(all(feature = "bridge", feature = "router"))]
mod bridge;
#[cfg(all(feature = "stdio", unix))]
mod children;
mod client;
mod common;
#[cfg(all(feature = "router", feature = "stdio"))]
mod eras;
#[cfg(all(
    feature = "http-client",
    feature = "http-server",
    feature = "router",
    feature = "stdio"
))]
mod examples;
#[cfg(feature = "http-client")]
mod http_client;
#[cfg(feature = "http-server")]
mod http_server;
#[cfg(all(feature = "http-client", feature = "http-server", feature = "router"))]
mod http_session;
#[cfg(all(feature = "auth", feature = "http-client", feature = "redis", feature = "router"))]
mod instances;
#[cfg(all(feature = "gateway", feature = "router"))]
mod many_servers;
#[cfg(feature = "router")]
mod middleware;
#[cfg(all(feature = "named-pipe", feature = "router", windows))]
mod named_pipe;
#[cfg(all(feature = "http-server", feature = "router"))]
mod processes;
#[cfg(feature = "router")]
mod rounds;
#[cfg(feature = "router")]
mod router;
mod session;
#[cfg(feature = "skills")]
mod skills;
#[cfg(feature = "stdio")]
mod stdio;
#[cfg(feature = "tasks")]
mod tasks;
#[cfg(all(
    feature = "http-client",
    feature = "http-server",
    feature = "router",
    feature = "stdio"
))]
mod two_processes;
#[cfg(all(feature = "http-server", feature = "router", feature = "unix", unix))]
mod unix;
