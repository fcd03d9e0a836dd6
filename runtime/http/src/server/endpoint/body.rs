//! The bodies of POSTs.

use std::error::Error;
use std::future::poll_fn;
use std::pin::pin;

use bytes::{Buf as _, BufMut as _};
use http::StatusCode;
use http::request::Parts;
use http_body::Body;
use mcp_runtime_util::Charge;
use tokio::time::Duration;

use super::super::memory::{held_by_call, largest_body};
use super::super::rejection::Rejection;
use super::super::session::HttpSession;
use super::super::sessions::Sessions;
use super::super::within::within;

/// The timeout of reading a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);
/// When the server has no memory left, idle sessions that keep more bytes than this are ended.
const IDLE_BYTES: usize = 64 << 10;

/// The body of a request, of any type.
pub trait RequestBody: Body<Data: Send, Error: Into<BoxError>> + Send + 'static {}

impl<B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static> RequestBody for B {}

type BoxError = Box<dyn Error + Send + Sync>;

/// Reads the body of a POST, and charges its bytes to the server's memory budget.
pub(super) async fn read_body<B: RequestBody>(
    sessions: &Sessions,
    parts: &Parts,
    body: B,
) -> Result<(Vec<u8>, Charge), Rejection> {
    let collected = within(BODY_TIMEOUT, pin!(collect(sessions, body))).await;
    let collected = collected.map_err(|_| Rejection::invalid(StatusCode::REQUEST_TIMEOUT, "The body timed out"))?;
    let (json, charge) = collected?;
    if let Some(guarded) = &sessions.settings.guarded {
        guarded.guard.check_body(parts, &json)?;
    }
    Ok((json, charge))
}

/// Collects a body, and charges its bytes as they arrive.
async fn collect<B: RequestBody>(sessions: &Sessions, body: B) -> Result<(Vec<u8>, Charge), Rejection> {
    let mut body = pin!(body);
    let mut json = Vec::new();
    let mut charge = sessions.memory.charge(0);
    let limit = largest_body(&sessions.settings);
    let too_large = || {
        let why = format!("The body has more than {limit} bytes");
        Rejection::invalid(StatusCode::PAYLOAD_TOO_LARGE, why)
    };
    let announced = |body: &B| usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced(&body) > limit {
        return Err(too_large());
    }
    let unreadable = |error: B::Error| Rejection::bad_request(format!("The body can't be read: {}", error.into()));
    while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx).map_err(unreadable)).await {
        // Trailers are ignored.
        let Ok(chunk) = frame?.into_data() else { continue };
        if json.len() + chunk.remaining() > limit {
            return Err(too_large());
        }
        while !charge.try_grow(held_by_call(chunk.remaining())) {
            let kept = |session: &HttpSession| session.memory.session.taken();
            let keeps_much = |session: &HttpSession| kept(session) > IDLE_BYTES;
            if !sessions.end_idle(None, kept, keeps_much).await {
                return Err(Rejection::busy("The server has reached its memory limit"));
            }
        }
        // Reserves space for the announced rest of the body, as far as the charge for the received part covers it.
        let rest = announced(&body);
        let came = json.len() + chunk.remaining();
        json.reserve(chunk.remaining() + rest.min(limit - came).min(held_by_call(came) - came));
        json.put(chunk);
    }
    Ok((json, charge))
}
