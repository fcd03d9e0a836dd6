//! A server of Streamable HTTP, and also of HTTP with SSE.
//!
//! ```no_run
//! use mcp_runtime::Router;
//! use mcp_runtime::transport::http::server::{HttpServer, serve};
//!
//! # async fn example() -> std::io::Result<()> {
//! let weather = Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny");
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
//! serve(listener, HttpServer::new(weather)).await;
//! # Ok(())
//! # }
//! ```
//!
//! [`HttpServer`] is a [service](tower_service::Service) of HTTP requests: [`serve`], hyper, axum and others can serve
//! it on a port. The documentation of [`serve`] lists the settings that hyper, axum and others need.
//!
//! The server transports messages, and doesn't interpret them. For each session it starts an engine. It hands the
//! client's messages to the engine, and sends each message of the engine on the stream where the client expects it.
//!
//! The response to a POST is one JSON value if it is ready soon and no message comes before it, and a stream of events
//! otherwise.
//!
//! A stream outlives its connections. Each event has an id: a client whose connection was cut can resume any kind of
//! stream after the last event that it has read. Messages that are related to no request are sent on the latest GET.
//! Earlier GETs stay open, and each can be resumed with the messages that were sent on it. The messages that are kept
//! for resuming are bounded. If a client reads a stream more slowly than the server writes to it, the writers of that
//! stream wait.

// A module only uses modules of its own group and of the groups above it.
mod store;

mod body;
mod extensions;
mod headers;
mod limits;
mod memory;
mod origin;
mod post_body;
mod rejection;
mod settings;
mod within;

mod stream;

mod session;

mod sessions;

mod endpoint;

mod http_server;

#[cfg(feature = "axum")]
mod axum;
#[cfg(not(target_family = "wasm"))]
mod serve;
#[cfg(not(target_family = "wasm"))]
mod timer;

pub use self::body::Body;
pub use self::endpoint::{HttpFunction, RequestBody};
pub use self::extensions::ClientAddress;
pub use self::http_server::HttpServer;
#[cfg(not(target_family = "wasm"))]
pub use self::serve::{HttpService, Listener, Serve, serve};
pub use self::session::{SessionReceiver, SessionSender, SessionTransport};
pub use self::sessions::SessionInfo;
pub use self::store::{
    InboxMessage, Instances, LogAppend, LogEntry, LogId, MemoryStore, Recipient, SessionRecord, SessionStore,
    StoreError, StoreFuture,
};
pub use crate::guard::{Guard, GuardFuture, OriginalUri, Refusal};
