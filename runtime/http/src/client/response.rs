//! The responses to HTTP requests.

use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, WWW_AUTHENTICATE};
use mcp_adapters::mcp_wire;
use mcp_runtime_core::transport::HttpFailure;

use super::body::Response;
use super::error::HttpError;

pub(super) const JSON: &str = "application/json";
pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// The maximum bytes that are read of the body of an error response.
const FAILURE_BYTES: usize = 64 * 1024;
/// The maximum bytes of this body that are kept as text.
const SHOWN_BYTES: usize = 4 * 1024;
/// The timeout of reading this body.
const FAILURE_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum number of challenges that are kept.
const CHALLENGES: usize = 16;
/// The maximum bytes of a header that is kept.
const HEADER_BYTES: usize = 8 * 1024;

/// Converts a response with an error status to a failure. If the platform has timers, a slow body is cut.
pub(super) async fn failure(mut response: Response, has_timers: bool) -> HttpFailure {
    let status = response.status();
    let challenges = kept(response.headers(), WWW_AUTHENTICATE).take(CHALLENGES).collect();
    let location = kept(response.headers(), LOCATION).next();
    let location = location.filter(|_| status.is_redirection());
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(chunk)) = response.body_mut().chunk().await
            && body.len() < FAILURE_BYTES
        {
            let room = FAILURE_BYTES - body.len();
            body.extend(chunk.iter().take(room));
        }
    };
    if within(has_timers.then_some(FAILURE_TIMEOUT), reading).await.is_none() {
        tracing::debug!(%status, "timed out reading the body of an error response");
    }
    let mut failure = HttpFailure::new(status);
    (failure.challenges, failure.location) = (challenges, location);
    failure.response = mcp_wire::from_slice(&body).ok();
    failure.body = String::from_utf8_lossy(body.get(..SHOWN_BYTES).unwrap_or(&body)).into_owned();
    failure
}

/// The values of a header, except those that are too long.
fn kept(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = String> {
    let values = headers.get_all(name).into_iter();
    let values = values.filter(|value| value.len() <= HEADER_BYTES);
    values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Waits for a future, but not longer than `time`, which is `None` on platforms without timers.
pub(super) async fn within<T>(time: Option<Duration>, future: impl Future<Output = T>) -> Option<T> {
    match time {
        Some(time) => tokio::time::timeout(time, future).await.ok(),
        None => Some(future.await),
    }
}

/// The media type of a response, in lower case and without parameters.
pub(super) fn media_type(response: &Response) -> String {
    let value = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next()).unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Reads the body of a response, unless it is over the limit.
pub(super) async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.body_mut().chunk().await? {
        if body.len() + chunk.len() > limit {
            return Err(HttpError::TooLarge(limit));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
