#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

/// Re-exports the features that are separate crates.
macro_rules! features {
    ($($feature:literal: $library:ident as $name:ident,)*) => {$(
        #[cfg(feature = $feature)]
        #[doc(inline)]
        pub use $library as $name;
    )*};
}

features! {
    "apps": mcp_runtime_apps as apps,
    "auth": mcp_runtime_auth as auth,
    "bridge": mcp_runtime_bridge as bridge,
    "clients": mcp_runtime_clients as clients,
    "gateway": mcp_runtime_gateway as gateway,
    "router": mcp_runtime_router as router,
    "skills": mcp_runtime_skills as skills,
    "tasks": mcp_runtime_tasks as tasks,
}

#[doc(inline)]
pub use mcp_runtime_core::*;
#[cfg(feature = "router")]
#[doc(inline)]
pub use {
    mcp_runtime_macros::tool,
    mcp_runtime_router::{Args, Router, State, Structured, ToolError, middleware},
};

/// Transports, which carry messages to a peer and back.
pub mod transport {
    #[doc(inline)]
    pub use mcp_runtime_core::transport::*;
    #[cfg(feature = "stdio")]
    #[doc(inline)]
    pub use mcp_runtime_local::*;

    /// Messages over HTTP.
    #[cfg(feature = "http-caller")]
    pub mod http {
        #[doc(inline)]
        pub use mcp_runtime_http::client;

        /// HTTP servers, and stores that several instances share.
        #[cfg(feature = "http-server")]
        pub mod server {
            #[doc(inline)]
            pub use mcp_runtime_http::server::*;
            #[cfg(feature = "redis")]
            #[doc(inline)]
            pub use mcp_runtime_redis::*;
        }
    }
}
