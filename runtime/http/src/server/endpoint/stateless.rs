//! Stateless requests: each has an engine of its own, which ends with the response.
//!
//! Their headers repeat what they say. A client cancels a request by closing its response.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};
use mcp_adapters::mcp_wire::{ErrorObject, MessageHeader, error_code};
use mcp_adapters::{PeerTypes, Revision};
use mcp_runtime_core::mirrors;

use super::super::body::Body;
use super::super::headers::stateless_revision;
use super::super::post_body::PostBody;
use super::super::rejection::{Rejection, error_status};
use super::super::session::SessionKind;
use super::super::sessions::Sessions;
use super::super::settings::Settings;
use super::reader::{FirstEvent, Reader};
use super::response::{ResponseFormat, events, json, responses, with_status};

/// The revision by whose rules a body is handled without a session; `None` if it is one of a client with a handshake.
///
/// What the body says of itself counts first. A body that says nothing is taken for a stateless one if its header names
/// such a revision, or if the server speaks no other.
pub(super) fn revision_of(settings: &Settings, headers: &HeaderMap, body: &PostBody) -> Option<Revision> {
    let stateless = settings
        .revisions
        .iter()
        .copied()
        .filter(|revision| revision.is_stateless());
    let latest = stateless.max()?;
    if body.stateless.is_some() || !settings.has_handshake() {
        return Some(body.stateless.unwrap_or(latest));
    }
    let named = stateless_revision(headers, &settings.revisions);
    named.filter(|_| body.initialize.is_none())
}

/// Handles a body without a session.
pub(super) async fn post(
    sessions: &Arc<Sessions>,
    parts: Parts,
    body: PostBody,
    revision: Revision,
) -> Result<Response<Body>, Rejection> {
    body.check_batch(revision)?;
    if body.has_responses {
        return Err(Rejection::bad_request(format!(
            "In revision {revision} clients send no responses"
        )));
    }
    if body.requests.is_empty() {
        // An engine that ends with the response has nothing that a notification could be about.
        return Ok(with_status(StatusCode::ACCEPTED, Body::default()));
    }
    if body.initialize.is_none() || body.stateless.is_some() {
        check(revision, &parts.headers, &body)?;
    }
    let format = ResponseFormat::of(&parts.headers, sessions.settings.json_only)?;
    let listens = listens(revision, &body);
    if listens && format == ResponseFormat::Json {
        let why = "The response to this request is a stream of events, and only JSON is possible here";
        return Err(Rejection::invalid(StatusCode::NOT_ACCEPTABLE, why));
    }
    let kind = match sessions.settings.json_only {
        true => SessionKind::JsonOnly,
        false if listens => SessionKind::Listening,
        false => SessionKind::Stateless,
    };
    let mut call = sessions.call(kind, &parts).await?;
    let stream = call.session.post(body, parts, format.content()).await?;
    let stream = stream.ok_or_else(Rejection::internal)?;
    if format != ResponseFormat::EventStream
        && let Some(responses) = call.at_once(&stream).await
    {
        return Ok(answer(revision, responses));
    }
    let new = call.spawn();
    match responses(&new.session, &stream, format).await {
        Some(responses) => Ok(answer(revision, responses)),
        // The reader ends the session.
        None => {
            let reader = Reader::open(&new.keep(), stream, FirstEvent::Comment, None).await;
            Ok(events(reader))
        }
    }
}

/// Whether the request lasts, and is followed by notifications until one of the sides ends it.
fn listens(revision: Revision, body: &PostBody) -> bool {
    !body.is_batch && body.method.is_some() && body.method.as_deref() == revision.lifecycle().listen
}

/// Refuses a request whose `_meta` lacks a key, or whose headers don't repeat what it says.
fn check(revision: Revision, headers: &HeaderMap, body: &PostBody) -> Result<(), Rejection> {
    let stamp = body.stamp(revision)?;
    if let Some(key) = stamp.missing_key {
        let why = format!("`_meta` of the request has no `{key}`");
        return Err(Rejection::new(StatusCode::BAD_REQUEST, error_code::INVALID_PARAMS, why));
    }
    mirrors::check(&stamp.mirrored, headers).map_err(|why| Rejection::header_mismatch(revision, why))
}

/// The response as JSON, with the status of the error that it may be.
fn answer(revision: Revision, responses: Vec<Bytes>) -> Response<Body> {
    // A response without this name has no error. Looking for it takes less time than reading a long result.
    let may_fail = |response: &&Bytes| str::from_utf8(response).is_ok_and(|json| json.contains("\"error\""));
    let error = responses.first().filter(may_fail).and_then(|response| {
        let error = MessageHeader::from_slice(response).ok()?.error()?;
        error.decode_as::<ErrorObject>().ok()
    });
    let mut response = json(false, responses);
    if let Some(status) = error.and_then(|error| error_status(revision, error.code)) {
        *response.status_mut() = status;
    }
    response
}
