//! The two endpoints of HTTP with SSE, the transport before this one.

use axum::extract::{OriginalUri, RawQuery, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};

use super::Server;
use super::guard::{accepts_by_name, check_content_type, not_acceptable};
use super::message::Posted;
use super::reader::Opening;
use super::refusal::Refusal;
use super::session::Kind;
use super::sessions::Shared;
use super::stream::Content;
use super::streamable::{EVENTS, check_batch, events, read_body};

/// Begins a session: it has one stream, and ends with its connection.
pub(super) async fn open(State(server): State<Server>, uri: OriginalUri, request: Request) -> Response {
    open_stream(&server, &uri, &request.into_parts().0)
        .await
        .unwrap_or_else(IntoResponse::into_response)
}

async fn open_stream(server: &Server, uri: &OriginalUri, request: &Parts) -> Result<Response, Refusal> {
    if request.method != Method::GET {
        return Err(Refusal::invalid(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed"));
    }
    if !accepts_by_name(&request.headers, EVENTS) {
        return Err(not_acceptable(&[EVENTS]));
    }
    let id = Shared::new_id()?;
    let beginning = server.start(id.clone(), Kind::Legacy, request, 0).await?;
    let messages = server.config.legacy.as_ref().map_or("", |(_, messages)| messages);
    // The router may be part of another, which has paths of its own before these.
    let prefix = uri.path().strip_suffix(request.uri.path()).unwrap_or_default();
    let session = server.publish(beginning);
    let opening = Opening::Endpoint(format!("{prefix}{messages}?sessionId={id}"));
    Ok(events(session.own.open(&session, opening, None)))
}

/// Takes a message; what is answered goes to the session's stream.
pub(super) async fn post(State(server): State<Server>, query: RawQuery, request: Request) -> Response {
    post_message(&server, query.0.as_deref(), request)
        .await
        .unwrap_or_else(IntoResponse::into_response)
}

async fn post_message(server: &Server, query: Option<&str>, request: Request) -> Result<Response, Refusal> {
    check_content_type(request.headers())?;
    let (parts, body) = request.into_parts();
    let posted = read_body(server, body).await?;
    let id = posted.only_request().cloned();
    let taken = take_message(server, query, parts, posted).await;
    taken.map_err(|refusal| refusal.about(id))
}

async fn take_message(server: &Server, query: Option<&str>, parts: Parts, posted: Posted) -> Result<Response, Refusal> {
    let parameters = query.unwrap_or_default().split('&');
    let id = parameters
        .into_iter()
        .find_map(|parameter| parameter.strip_prefix("sessionId="));
    let id = id.ok_or_else(|| Refusal::bad_request("The parameter sessionId is required"))?;
    let session = server.find_legacy(id, &parts)?;
    if let Some(revision) = session.revision() {
        check_batch(&posted, revision)?;
    }
    let _room = session.admit()?;
    session.post(posted, parts, Content::Any).await?;
    Ok((StatusCode::ACCEPTED, "Accepted").into_response())
}
