//! What the server does with HTTP requests.

#[cfg(feature = "router")]
mod app;
mod body;
#[cfg(feature = "auth")]
mod challenge;
mod guard;
mod legacy;
#[cfg(feature = "auth")]
mod protect;
mod reader;
mod response;
mod stateless;
mod streamable;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};

use super::config::HttpServer;
use super::session::SessionTransport;
use super::sessions::{SessionInfo, Sessions};

/// An axum router that serves clients of every revision with an engine of your choice. [`HttpServer::app`] serves a
/// [`Router`](mcp_core::Router) with less.
///
/// `start` is called once for each session, within the tokio runtime. It starts the session's engine, and shouldn't block.
/// The session ends when the engine drops its transport. If the session ends first, the engine receives no more messages.
/// Each request stays in flight until the engine has sent its response, or has called
/// [`Sender::unanswered`](mcp_core::transport::Sender::unanswered).
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
