//! A server in frameworks that have their own HTTP types or bodies.

pub mod actix;
pub mod lambda;

use mcp_runtime::Router;

/// Returns the server that both frameworks run.
pub fn weather() -> Router {
    Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny")
}
