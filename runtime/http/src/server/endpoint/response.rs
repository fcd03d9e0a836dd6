//! The responses to requests that are accepted.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

use super::super::headers::{EVENT_STREAM, JSON, accepts, not_acceptable};
use super::super::post_body::join_responses;
use super::super::rejection::Rejection;
use super::super::session::HttpSession;
use super::super::stream::{Content, Stream};
use super::reader::Reader;

/// The response whose body is one JSON value.
pub(super) fn json(is_batch: bool, responses: Vec<Bytes>) -> Response {
    if responses.is_empty() {
        // The requests were cancelled.
        return StatusCode::ACCEPTED.into_response();
    }
    let body = Body::from(join_responses(is_batch, responses));
    ([(header::CONTENT_TYPE, JSON)], body).into_response()
}

/// The response whose body is a stream of events.
pub(super) fn events(reader: Reader) -> Response {
    let headers = [
        (header::CONTENT_TYPE, EVENT_STREAM),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        // Some proxies keep a response until it is whole, unless they are told.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(reader)).into_response()
}

/// The format of the response to a POST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResponseFormat {
    /// One JSON value.
    Json,
    /// A stream of events.
    EventStream,
    Either,
}

impl ResponseFormat {
    /// The formats that the client accepts. The protocol requires both, but one is enough.
    pub(super) fn of(headers: &HeaderMap, json_only: bool) -> Result<Self, Rejection> {
        match (accepts(headers, JSON), accepts(headers, EVENT_STREAM)) {
            (true, false) => Ok(Self::Json),
            (true, true) if json_only => Ok(Self::Json),
            (true, true) => Ok(Self::Either),
            (false, true) if !json_only => Ok(Self::EventStream),
            (false, _) if json_only => Err(not_acceptable(&[JSON])),
            (false, _) => Err(not_acceptable(&[JSON, EVENT_STREAM])),
        }
    }

    pub(super) fn content(self) -> Content {
        match self {
            Self::Json => Content::Responses,
            Self::EventStream | Self::Either => Content::Any,
        }
    }
}

/// The responses to a POST if they are to be one JSON value, and `None` if they are to be a stream of events.
///
/// The headers and the first event of a stream are two writes. With Nagle's algorithm, the second one waits for the
/// acknowledgement of the first. So a response that is ready soon, with no message before it, is one JSON value.
pub(super) async fn responses(session: &HttpSession, stream: &Stream, format: ResponseFormat) -> Option<Vec<Bytes>> {
    match format {
        ResponseFormat::Json => stream.responses().await,
        ResponseFormat::Either => timeout(session.limits.stream_after, stream.responses()).await.ok()?,
        ResponseFormat::EventStream => None,
    }
}
