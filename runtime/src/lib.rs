#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "apps")]
#[doc(inline)]
pub use mcp_runtime_apps as apps;
#[cfg(feature = "auth")]
#[doc(inline)]
pub use mcp_runtime_auth as auth;
#[cfg(feature = "bridge")]
#[doc(inline)]
pub use mcp_runtime_bridge as bridge;
#[cfg(feature = "clients")]
#[doc(inline)]
pub use mcp_runtime_clients as clients;
#[doc(inline)]
pub use mcp_runtime_core::*;
#[cfg(feature = "gateway")]
#[doc(inline)]
pub use mcp_runtime_gateway as gateway;
/// Makes a tool from a function and its doc comment.
///
/// ```
/// use mcp_runtime::{Args, Router};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Location {
///     /// A city, such as Bern.
///     city: String,
/// }
///
/// /// Get the current weather of a city.
/// #[mcp_runtime::tool]
/// async fn weather(Args(location): Args<Location>) -> String {
///     format!("sunny in {}", location.city)
/// }
///
/// let router = Router::new("weather", "1.0").with(weather::tool());
/// ```
///
/// With a title and hints:
///
/// ```
/// /// Counts the notes.
/// #[mcp_runtime::tool(title = "Count", read_only, open_world = false)]
/// fn count() -> usize {
///     0
/// }
///
/// /// Archives the notes.
/// #[mcp_runtime::tool(destructive = false, idempotent)]
/// fn archive() -> &'static str {
///     "archived"
/// }
///
/// let router = mcp_runtime::Router::new("notes", "1.0").with(count::tool()).with(archive::tool());
/// ```
///
/// A tool without a doc comment doesn't compile:
///
/// ```compile_fail
/// #[mcp_runtime::tool]
/// fn time() -> &'static str {
///     "noon"
/// }
/// ```
///
/// Nor does one with a hint that there isn't:
///
/// ```compile_fail
/// /// Tells the time.
/// #[mcp_runtime::tool(read_only = false)]
/// fn time() -> &'static str {
///     "noon"
/// }
/// ```
#[cfg(feature = "router")]
pub use mcp_runtime_macros::tool;
#[cfg(feature = "router")]
#[doc(inline)]
pub use mcp_runtime_router::{self as router, Args, Router, State, Structured, ToolError, middleware};
#[cfg(feature = "skills")]
#[doc(inline)]
pub use mcp_runtime_skills as skills;
#[cfg(feature = "tasks")]
#[doc(inline)]
pub use mcp_runtime_tasks as tasks;

/// Transports: how messages get to a peer and back.
pub mod transport {
    #[doc(inline)]
    pub use mcp_runtime_core::transport::*;
    #[cfg(feature = "stdio")]
    #[doc(inline)]
    pub use mcp_runtime_local::*;

    /// Messages over HTTP.
    #[cfg(any(feature = "http-caller", feature = "http-service"))]
    pub mod http {
        #[cfg(feature = "http-caller")]
        #[doc(inline)]
        pub use mcp_runtime_http::client;

        #[cfg(feature = "http-service")]
        /// A server, and what its instances share.
        pub mod server {
            #[doc(inline)]
            pub use mcp_runtime_http::server::*;
            #[cfg(feature = "redis")]
            #[doc(inline)]
            pub use mcp_runtime_redis::*;
        }
    }
}
