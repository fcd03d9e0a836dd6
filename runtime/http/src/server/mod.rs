//! A server of Streamable HTTP, and of HTTP with SSE beside it, as an axum router.
//!
//! The server transports messages, and doesn't interpret them. For each session it starts an engine: it hands the client's
//! messages to the engine, and puts each message of the engine on the stream where the client expects it.
//!
//! ```
//! use mcp_runtime::transport::http::server::{HttpServer, SessionInfo, SessionTransport, router};
//!
//! # fn start_engine(transport: SessionTransport) {}
//! let app = router(HttpServer::new(), |transport: SessionTransport, _: SessionInfo| start_engine(transport));
//! # let _ = app;
//! ```
//!
//! [`serve`] serves the router on a port. Its documentation lists what other ways to serve it have to set.
//!
//! The response to a POST is one JSON value if it is ready soon and no message comes before it, and a stream of events
//! otherwise.
//!
//! A stream outlives its connections. Each event has an id: a client whose connection was cut resumes any kind of stream
//! after the last event that it has read. Messages that are related to no request go to the latest GET; others stay open,
//! and each is resumed with the messages that were sent on it. The messages that are kept for that are bounded. If a
//! client reads a stream more slowly than the server writes to it, the writers of that stream wait.

// A module uses only those of its group, and of the groups above.
mod store;

mod config;
mod headers;
mod limits;
mod memory;
mod origin;
mod post_body;
mod rejection;

mod stream;

mod session;

mod sessions;

mod endpoint;

mod serve;

pub use self::config::HttpServer;
pub use self::endpoint::router;
pub use self::serve::{Serve, serve};
pub use self::session::{SessionReceiver, SessionSender, SessionTransport};
pub use self::sessions::SessionInfo;
pub use self::store::{
    InboxMessage, Instances, LogAppend, LogEntry, LogId, MemoryStore, Recipient, SessionRecord, SessionStore,
    StoreError, StoreFuture,
};
