//! The two endpoints of HTTP with SSE, the predecessor of Streamable HTTP.

use std::sync::Arc;

use http::header::ACCEPT;
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode, header};

use super::super::body::Body;
use super::super::headers::{EVENT_STREAM, accepts, check_content_type, not_acceptable};
use super::super::post_body::{PostBody, read_payload};
use super::super::rejection::Rejection;
use super::super::session::SessionKind;
use super::super::sessions::Sessions;
use super::super::stream::Content;
use super::body::{RequestBody, read_body};
use super::reader::{FirstEvent, Reader};
use super::response::{events, with_status};
use crate::guard::OriginalUri;

/// The header in which a browser reports the mode of a request, such as a navigation or CORS.
const SEC_FETCH_MODE: &str = "sec-fetch-mode";

/// Starts a session. It has only one stream, and ends with the connection of this stream.
pub(super) async fn open(sessions: &Arc<Sessions>, request: &Parts) -> Response<Body> {
    let opened = open_stream(sessions, request).await;
    opened.unwrap_or_else(Rejection::into_response)
}

async fn open_stream(sessions: &Arc<Sessions>, request: &Parts) -> Result<Response<Body>, Rejection> {
    // Requests of an element of a page, such as `img`, and navigations have other modes.
    if let Some(mode) = request.headers.get(SEC_FETCH_MODE)
        && mode != "cors"
        && mode != "same-origin"
    {
        let why = "Only a script of a page may open this stream";
        return Err(Rejection::invalid(StatusCode::FORBIDDEN, why));
    }
    // Without the header, any type is acceptable (RFC 9110, section 12.5.1).
    if request.headers.contains_key(ACCEPT) && !accepts(&request.headers, EVENT_STREAM) {
        return Err(not_acceptable(&[EVENT_STREAM]));
    }
    let id = Sessions::new_id()?;
    let new = sessions.start(id.clone(), SessionKind::Legacy, 0, request, 0).await?;
    let messages = sessions.settings.legacy.as_ref().map_or("", |(_, messages)| messages);
    // The server may be nested in another one, whose paths are a prefix of these.
    let original = request.extensions.get().map(|OriginalUri(uri)| uri.path());
    let prefix = original.and_then(|path| path.strip_suffix(request.uri.path()));
    let prefix = prefix.unwrap_or_default();
    let session = sessions.publish(new);
    let first = FirstEvent::Endpoint(format!("{prefix}{messages}?sessionId={id}"));
    let reader = Reader::open(&session, session.standalone.clone(), first, None).await;
    Ok(events(reader))
}

/// Handles the POST of a message. The JSON-RPC response is sent on the session's stream.
pub(super) async fn post<B: RequestBody>(sessions: &Arc<Sessions>, request: Request<B>) -> Response<Body> {
    let posted = post_message(sessions, request).await;
    posted.unwrap_or_else(Rejection::into_response)
}

async fn post_message<B: RequestBody>(
    sessions: &Arc<Sessions>,
    request: Request<B>,
) -> Result<Response<Body>, Rejection> {
    check_content_type(request.headers())?;
    let (parts, body) = request.into_parts();
    let (json, charge) = read_body(sessions, &parts, body).await?;
    let payload = read_payload(&json)?;
    let mut body = PostBody::of(&payload, json.len(), Some(charge))?;
    let id = body.only_request().cloned();
    let taken = take_message(sessions, parts, &mut body).await;
    taken.map_err(|rejection| rejection.with_id(id))
}

async fn take_message(
    sessions: &Arc<Sessions>,
    parts: Parts,
    body: &mut PostBody<'_>,
) -> Result<Response<Body>, Rejection> {
    let parameters = parts.uri.query().unwrap_or_default().split('&');
    let id = parameters
        .into_iter()
        .find_map(|parameter| parameter.strip_prefix("sessionId="));
    let id = id.ok_or_else(|| Rejection::bad_request("The parameter sessionId is required"))?;
    let session = sessions.find_legacy(id, &parts)?;
    if let Some(revision) = session.revision() {
        body.check_batch(revision)?;
    }
    let _permit = session.admit()?;
    session.post(body, parts, Content::Any).await?;
    let mut response = with_status(StatusCode::ACCEPTED, "Accepted");
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, text);
    Ok(response)
}
