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

mod body;
mod buffer;
mod config;
mod engine_id;
mod event_id;
mod event_log;
mod find;
mod follow;
mod guard;
mod headers;
mod inbox;
mod instances;
mod legacy;
mod lifecycle;
mod limits;
mod listener;
mod memory;
mod message;
mod origin;
#[cfg(feature = "auth")]
mod protect;
mod reader;
#[cfg(feature = "redis")]
mod redis;
mod rejection;
mod requests;
mod response;
mod serve;
mod session;
mod sessions;
mod start;
mod stateless;
mod store;
mod stream;
mod streamable;
mod transport;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};

pub use self::config::HttpServer;
pub use self::instances::{InboxMessage, Instances, LogAppend, LogEntry, LogId, Recipient};
#[cfg(feature = "redis")]
pub use self::redis::{RedisOptions, RedisStore};
pub use self::serve::{Serve, serve};
pub use self::sessions::SessionInfo;
pub use self::store::{MemoryStore, SessionRecord, SessionStore, StoreError, StoreFuture};
pub use self::transport::{SessionReceiver, SessionSender, SessionTransport};

use self::sessions::Sessions;

/// A router that serves clients of every revision.
///
/// `start` is called once for each session, within the tokio runtime. It starts the session's engine, and shouldn't block.
/// The session ends when the engine drops its transport. If the session ends first, the engine receives no more messages.
/// Each request stays in flight until the engine has sent its response, or has called
/// [`Sender::unanswered`](crate::transport::Sender::unanswered).
///
/// # Panics
/// When a path doesn't begin with a slash, or two are the same.
pub fn router<S>(config: HttpServer, start: S) -> Router
where
    S: Fn(SessionTransport, SessionInfo) + Clone + Send + Sync + 'static,
{
    let config = config.settled();
    let (path, legacy) = (config.path.clone(), config.legacy.clone());
    let legacy = legacy.filter(|_| !config.stateless && config.has_handshake());
    let cors = config.cors();
    let sessions = Arc::new(Sessions::new(config, start));
    let mut router = Router::new().route(&path, any(streamable::handle));
    if let Some((stream, messages)) = legacy {
        router = router
            .route(&stream, get(legacy::open))
            .route(&messages, post(legacy::post));
    }
    #[cfg(feature = "auth")]
    if let Some(protected) = sessions.config.protected.clone() {
        router = protect::protect(router, protected);
    }
    router
        .layer(cors)
        .layer(from_fn_with_state(sessions.clone(), guard::guard))
        .with_state(sessions)
}
