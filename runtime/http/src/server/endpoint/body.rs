//! The bodies of POSTs.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::request::Parts;
use futures_core::Stream as _;
use mcp_core::internal::Charge;
use tokio::time::{Duration, timeout};

use super::super::memory::held_by_call;
use super::super::post_body::PostBody;
use super::super::rejection::Rejection;
use super::super::session::HttpSession;
use super::super::sessions::Sessions;

/// The time that a client has to send a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);
/// Idle sessions that keep more bytes than this end when the server has no room.
const IDLE_BYTES: usize = 64 << 10;

/// Reads the body of a POST.
pub(super) async fn read_body(sessions: &Sessions, parts: &Parts, body: Body) -> Result<PostBody, Rejection> {
    let collected = timeout(BODY_TIMEOUT, collect(sessions, body)).await;
    let collected = collected.map_err(|_| Rejection::invalid(StatusCode::REQUEST_TIMEOUT, "The body doesn't come"))?;
    let (json, charge) = collected?;
    #[cfg(feature = "auth")]
    super::protect::check_tools(&sessions.config, &parts.extensions, &json)?;
    #[cfg(not(feature = "auth"))]
    let _ = parts;
    let mut body = PostBody::parse(json)?;
    body.charge = Some(Arc::new(charge));
    Ok(body)
}

/// Collects a body, and charges its bytes as they come.
async fn collect(sessions: &Sessions, body: Body) -> Result<(Vec<u8>, Charge), Rejection> {
    let mut body = pin!(body.into_data_stream());
    let mut json = Vec::new();
    let mut charge = sessions.memory.charge(0);
    while let Some(chunk) = poll_fn(|cx| body.as_mut().poll_next(cx)).await {
        let chunk = chunk.map_err(|error| Rejection::bad_request(format!("The body can't be read: {error}")))?;
        if json.len() + chunk.len() > sessions.config.max_body {
            let why = format!("The body has more than {} bytes", sessions.config.max_body);
            return Err(Rejection::invalid(StatusCode::PAYLOAD_TOO_LARGE, why));
        }
        while !charge.try_grow(held_by_call(chunk.len())) {
            let kept = |session: &HttpSession| session.memory.session.taken();
            let keeps_much = |session: &HttpSession| kept(session) > IDLE_BYTES;
            if !sessions.end_idle(None, kept, keeps_much).await {
                return Err(Rejection::busy("The server holds as much as it may"));
            }
        }
        json.extend_from_slice(&chunk);
    }
    Ok((json, charge))
}
