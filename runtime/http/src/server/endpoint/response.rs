//! The responses to accepted requests.

use std::pin::pin;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};

use super::super::body::Body;
use super::super::headers::{EVENT_STREAM, JSON, accepted, not_acceptable};
use super::super::post_body::join_responses;
use super::super::rejection::Rejection;
use super::super::session::HttpSession;
use super::super::stream::{Content, Stream};
use super::super::within::within;
use super::reader::Reader;

/// A response with a status, a body and no headers.
pub(super) fn with_status(status: StatusCode, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response
}

/// The response to a method that the path doesn't support.
pub(super) fn method_not_allowed(allowed: &'static str) -> Response<Body> {
    let rejection = Rejection::invalid(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
    let mut response = rejection.into_response();
    let allowed = HeaderValue::from_static(allowed);
    response.headers_mut().insert(header::ALLOW, allowed);
    response
}

/// The response whose body is one JSON value.
pub(super) fn json(is_batch: bool, responses: Vec<Bytes>) -> Response<Body> {
    if responses.is_empty() {
        // The requests were cancelled.
        return with_status(StatusCode::ACCEPTED, Body::default());
    }
    json_response(join_responses(is_batch, responses))
}

/// A response with JSON.
pub(super) fn json_response(json: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::from(json));
    let content_type = HeaderValue::from_static(JSON);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

/// The response whose body is a stream of events.
pub(super) fn events(reader: Reader) -> Response<Body> {
    let mut response = Response::new(Body::stream(reader));
    let headers = [
        (header::CONTENT_TYPE, EVENT_STREAM),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        // Some proxies buffer a response until it is complete, unless this header prevents it.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    response.headers_mut().extend(headers);
    response
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
        let [json, events] = accepted(headers, [JSON, EVENT_STREAM]);
        match (json, events) {
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

/// Waits for the responses to a POST, to be sent as one JSON value; `None` if they have to be sent as a stream of
/// events.
///
/// The headers and the first event of a stream are two writes. With Nagle's algorithm, the second one waits for the
/// acknowledgement of the first. So a response that is ready soon, with no message before it, is sent as one JSON
/// value.
pub(super) async fn responses(session: &HttpSession, stream: &Stream, format: ResponseFormat) -> Option<Vec<Bytes>> {
    match format {
        ResponseFormat::Json => stream.responses().await,
        ResponseFormat::Either => within(session.limits.stream_after, pin!(stream.responses()))
            .await
            .ok()?,
        ResponseFormat::EventStream => None,
    }
}
