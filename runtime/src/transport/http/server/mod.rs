//! A server of Streamable HTTP, and of HTTP with SSE beside it, as an axum router.
//!
//! The server knows how messages travel and nothing of what they mean: for each session it starts an engine, to which it
//! hands what the client posts, and of which it takes each message to the stream where the client expects it.
//!
//! ```
//! use mcp_runtime::transport::http::server::{HttpServer, SessionInfo, SessionTransport, router};
//!
//! # fn start_engine(transport: SessionTransport) {}
//! let app = router(HttpServer::new(), |transport: SessionTransport, _: SessionInfo| start_engine(transport));
//! # let _ = app;
//! ```
//!
//! [`serve`] serves the router on a port, and says what an embedder has to set who serves it otherwise.
//!
//! A POST is answered by one JSON value if its answer comes soon and nothing is said before it, and by a stream of events
//! otherwise.
//!
//! A stream outlives the connections that it is read through. Each event has an id, and a client whose connection was cut
//! names the last one it has read to get those after it, on whichever kind of stream. What the server says of its own
//! accord goes to the GET that came last; others stay open, and each is resumed with what was sent on it. What is kept
//! for that is bounded; a client that reads a stream slower than the server writes to it makes those wait who write to that stream.

mod buffer;
mod config;
mod guard;
mod legacy;
mod memory;
mod message;
mod reader;
mod refusal;
mod serve;
mod session;
mod sessions;
mod store;
mod stream;
mod streamable;
mod transport;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};

pub use self::config::HttpServer;
pub use self::serve::{Serve, serve};
pub use self::sessions::SessionInfo;
pub use self::store::{MemoryStore, SessionRecord, SessionStore, StoreError, StoreFuture};
pub use self::transport::{SessionReceiver, SessionSender, SessionTransport};

use self::sessions::Shared;

/// What axum hands to each request.
#[derive(Clone)]
struct Server(Arc<Shared>);

impl std::ops::Deref for Server {
    type Target = Arc<Shared>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// A router that answers clients of every revision.
///
/// `start` is called once for each session, within the tokio runtime, and starts the session's engine; it shouldn't wait.
/// The session ends when the engine drops its transport, and the engine hears of the session's end by there being no more
/// messages. Each request stays in flight until the engine has sent its answer, or has told
/// [`Sender::unanswered`](crate::transport::Sender::unanswered) that there is none.
///
/// # Panics
/// When a path doesn't begin with a slash, or two are the same.
pub fn router<S>(config: HttpServer, start: S) -> Router
where
    S: Fn(SessionTransport, SessionInfo) + Clone + Send + Sync + 'static,
{
    let config = config.settled();
    let (path, legacy) = (config.path.clone(), config.legacy.clone());
    let legacy = legacy.filter(|_| !config.stateless);
    let cors = config.cors();
    let server = Server(Arc::new(Shared::new(config, start)));
    let mut router = Router::new().route(&path, any(streamable::handle));
    if let Some((stream, messages)) = legacy {
        router = router
            .route(&stream, get(legacy::open))
            .route(&messages, post(legacy::post));
    }
    router
        .layer(cors)
        .layer(from_fn_with_state(server.clone(), guard::guard))
        .with_state(server)
}
