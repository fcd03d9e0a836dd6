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

    /// Messages over HTTP.
    #[cfg(any(feature = "http-client", feature = "http-service"))]
    pub mod http {
        #[cfg(feature = "http-client")]
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
