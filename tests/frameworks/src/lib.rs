//! A server in frameworks that have HTTP types or bodies of their own.

pub mod actix;
pub mod lambda;

use mcp_runtime::Router;

/// The server of both.
pub fn weather() -> Router {
    Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny")
}
