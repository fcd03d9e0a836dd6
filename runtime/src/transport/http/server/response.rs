//! The responses to requests that are accepted.

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::headers::{EVENT_STREAM, JSON};
use super::message::join_responses;
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
