//! The endpoint of Streamable HTTP.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use mcp_adapters::Revision;
use mcp_runtime_core::mirrors::header_name;
use tokio::sync::OwnedSemaphorePermit;

use super::super::body::Body;
use super::super::headers::{EVENT_STREAM, LAST_EVENT_ID, accepts, check_content_type, check_revision, not_acceptable};
use super::super::post_body::{PostBody, read_payload};
use super::super::rejection::Rejection;
use super::super::session::{HttpSession, SessionKind};
use super::super::sessions::Sessions;
use super::super::stream::{Content, EventId, ResumeError, STANDALONE, Stream};
use super::body::{RequestBody, read_body};
use super::reader::{FirstEvent, Reader};
use super::response::{ResponseFormat, events, json, method_not_allowed, responses, with_status};
use super::stateless;
use super::{Responding, at_once};

/// Handles a request of any method.
pub(super) fn handle<B: RequestBody>(sessions: &Arc<Sessions>, request: Request<B>) -> Responding {
    let (settings, of) = (&sessions.settings, Arc::clone(sessions));
    let responded = |response: Result<_, Rejection>| Ok(response.unwrap_or_else(Rejection::into_response));
    match *request.method() {
        Method::POST => Box::pin(async move { responded(post(&of, request).await) }),
        Method::GET if settings.listens() => {
            let request = request.into_parts().0;
            Box::pin(async move { responded(listen(&of, request).await) })
        }
        Method::DELETE if settings.has_sessions() => {
            let request = request.into_parts().0;
            Box::pin(async move { responded(delete(&of, request).await) })
        }
        _ => at_once(method_not_allowed(
            match (settings.listens(), settings.has_sessions()) {
                (true, true) => "GET, POST, DELETE",
                (true, false) => "GET, POST",
                (false, true) => "POST, DELETE",
                (false, false) => "POST",
            },
        )),
    }
}

async fn post<B: RequestBody>(sessions: &Arc<Sessions>, request: Request<B>) -> Result<Response<Body>, Rejection> {
    check_content_type(request.headers())?;
    let (parts, body) = request.into_parts();
    let (json, charge) = read_body(sessions, &parts, body).await?;
    let mut id = None;
    let posted = async {
        let payload = read_payload(&json)?;
        let mut body = PostBody::of(&payload, json.len(), Some(charge))?;
        id = body.only_request().cloned();
        let Some(revision) = stateless::revision_of(&sessions.settings, &parts.headers, &body) else {
            return post_message(sessions, parts, &mut body).await;
        };
        let Some(accepted) = stateless::accept(&sessions.settings, &parts.headers, &body, revision)? else {
            return Ok(Posted::Answered(with_status(StatusCode::ACCEPTED, Body::default())));
        };
        let answered = match body.message().zip(accepted.responder(sessions, &body)) {
            Some((request, responder)) => accepted.respond(sessions, responder, parts, request, &mut body).await,
            // Boxed here and below, as the futures of all other requests would otherwise be as large.
            None => Box::pin(accepted.post(sessions, parts, &mut body)).await,
        };
        answered.map(Posted::Answered)
    };
    let posted = posted.await.map_err(|rejection| rejection.with_id(id))?;
    // The body isn't needed while the handler runs, which can take long.
    drop(json);
    match posted {
        Posted::Answered(response) => Ok(response),
        Posted::InSession(waiting) => Ok(waiting.answer().await),
    }
}

/// The outcome of a body that has been handed over.
enum Posted {
    /// The body has been answered.
    Answered(Response<Body>),
    /// The responses will come on a stream of the session.
    InSession(Waiting),
}

/// Requests that wait for their responses, which come on a stream of their session.
struct Waiting {
    session: Arc<HttpSession>,
    stream: Arc<Stream>,
    format: ResponseFormat,
    revision: Revision,
    is_batch: bool,
    permit: OwnedSemaphorePermit,
}

impl Waiting {
    async fn answer(self) -> Response<Body> {
        match responses(&self.session, &self.stream, self.format).await {
            Some(responses) => json(self.is_batch, responses),
            None => {
                let first = first_event(self.revision);
                events(Reader::open(&self.session, self.stream, first, Some(self.permit)).await)
            }
        }
    }
}

async fn post_message(sessions: &Arc<Sessions>, parts: Parts, body: &mut PostBody<'_>) -> Result<Posted, Rejection> {
    if sessions.settings.stateless {
        let answered = Box::pin(post_without_session(sessions, parts, body)).await;
        return answered.map(Posted::Answered);
    }
    let format = ResponseFormat::of(&parts.headers, sessions.settings.json_only)?;
    let Some(id) = session_id(sessions, &parts.headers)? else {
        return match body.initialize {
            Some(_) => Box::pin(start(sessions, parts, body, format))
                .await
                .map(Posted::Answered),
            None => Err(no_session_id(sessions, &parts.headers)),
        };
    };
    let session = sessions.find(id, &parts).await?;
    let revision = check_revision(&parts.headers, session.revision(), &sessions.settings.revisions)?;
    body.check_batch(revision)?;
    let permit = session.admit()?;
    sessions.forward(&session, body).await?;
    let stream = session.post(body, parts, format.content()).await?;
    Ok(match stream {
        None => Posted::Answered(with_status(StatusCode::ACCEPTED, Body::default())),
        Some(stream) => Posted::InSession(Waiting {
            session,
            stream,
            format,
            revision,
            is_batch: body.is_batch(),
            permit,
        }),
    })
}

/// Handles `initialize`. Clients can use the session only after it has succeeded.
async fn start(
    sessions: &Arc<Sessions>,
    parts: Parts,
    body: &mut PostBody<'_>,
    format: ResponseFormat,
) -> Result<Response<Body>, Rejection> {
    let id = Sessions::new_id()?;
    let new = sessions
        .start(id.clone(), SessionKind::Streamable, 0, &parts, body.bytes)
        .await?;
    let session = new.session.clone();
    let permit = session.admit()?;
    let (initialize, asked) = (body.payload.text().as_bytes(), body.initialize.flatten());
    let stream = session.post(body, parts, format.content()).await?;
    let stream = stream.ok_or_else(Rejection::internal)?;
    let negotiated = session.negotiated().await;
    if let Some(revision) = negotiated {
        sessions.record(&session, initialize.into(), revision).await?;
        sessions.publish(new);
    }
    let mut response = match responses(&session, &stream, format).await {
        Some(responses) => json(false, responses),
        None => {
            let first = first_event(negotiated.or(asked).unwrap_or(Revision::HUB));
            events(Reader::open(&session, stream, first, Some(permit)).await)
        }
    };
    // A revision that doesn't define the header has sessions only over HTTP with SSE. A client that uses such a
    // revision here needs the id too.
    let header = negotiated.map(|revision| revision.facts().session_header.or(sessions.settings.session_header()));
    if let Some(name) = header.flatten().and_then(header_name) {
        let id = HeaderValue::from_str(&id).map_err(|_| Rejection::internal())?;
        response.headers_mut().insert(name, id);
    }
    Ok(response)
}

/// Handles a POST of a revision with sessions, on a server without sessions: the POST has its own engine, and the
/// response is JSON.
async fn post_without_session(
    sessions: &Arc<Sessions>,
    parts: Parts,
    body: &mut PostBody<'_>,
) -> Result<Response<Body>, Rejection> {
    ResponseFormat::of(&parts.headers, true)?;
    let negotiated = body.initialize.flatten();
    let revision = match body.initialize {
        Some(_) => negotiated.unwrap_or(Revision::HUB),
        None => check_revision(&parts.headers, None, &sessions.settings.revisions)?,
    };
    body.check_batch(revision)?;
    if body.requests.is_empty() {
        // Notifications and responses are ignored: they would need an engine that has existed before.
        tracing::debug!("a notification or response without a session is dropped");
        return Ok(with_status(StatusCode::ACCEPTED, Body::default()));
    }
    let new = sessions
        .start(String::new(), SessionKind::JsonOnly, 0, &parts, 0)
        .await?;
    if body.initialize.is_none() && revision.facts().initializes {
        let initialize = Sessions::minimal_initialize(revision)?;
        sessions.handshake(&new, &initialize, &parts).await?;
    }
    let session = &new.session;
    let is_batch = body.is_batch();
    let stream = session.post(body, parts, Content::Responses).await?;
    let stream = stream.ok_or_else(Rejection::internal)?;
    let responses = stream.responses().await.ok_or_else(Rejection::internal)?;
    Ok(json(is_batch, responses))
}

/// Opens the standalone stream of a session, or resumes a stream.
async fn listen(sessions: &Arc<Sessions>, request: Parts) -> Result<Response<Body>, Rejection> {
    let headers = &request.headers;
    if !accepts(headers, EVENT_STREAM) {
        return Err(not_acceptable(&[EVENT_STREAM]));
    }
    let session = find(sessions, &request).await?;
    let revision = check_revision(headers, session.revision(), &sessions.settings.revisions)?;
    let permit = session.admit()?;
    let last = headers.get(LAST_EVENT_ID).filter(|last| !last.is_empty());
    let last = match last {
        None => None,
        Some(last) => Some(last.to_str().ok().and_then(EventId::parse).ok_or_else(no_such_event)?),
    };
    let (first, permit) = (first_event(revision), Some(permit));
    let stream = last.as_ref().filter(|last| last.engine == session.engine.number);
    let stream = stream.and_then(|last| session.stream(last.stream));
    let resumed = match (last, stream, &session.engine.shared) {
        // Every instance has the standalone stream.
        (last, None, _) if last.as_ref().is_none_or(|last| last.stream == STANDALONE) => {
            let missed = listen_here(&session, last.as_ref()).await?;
            let reader = Reader::open(&session, session.standalone.clone(), first, permit).await;
            Ok(reader.after(missed))
        }
        (Some(last), Some(stream), _) => {
            if last.stream == STANDALONE {
                listen_here(&session, Some(&last)).await?;
            }
            Reader::resume(&session, stream, last, first, permit)
        }
        (Some(last), None, Some(shared)) => shared
            .follow(&last, session.ended.clone())
            .await
            .map_err(Rejection::store_failed)?
            .map(|logged| Reader::follow(&session, logged, last, first, permit)),
        _ => Err(ResumeError::NoSuchEvent),
    };
    match resumed {
        Ok(reader) => Ok(events(reader)),
        Err(ResumeError::NoSuchEvent) => Err(no_such_event()),
        Err(ResumeError::NothingLeft) => Ok(with_status(StatusCode::NO_CONTENT, Body::default())),
    }
}

/// Makes this instance the one at which the client reads the standalone stream. Returns the events of other instances
/// that it has missed.
async fn listen_here(session: &HttpSession, last: Option<&EventId>) -> Result<Vec<(EventId, Bytes)>, Rejection> {
    let Some(shared) = &session.engine.shared else {
        return Ok(Vec::new());
    };
    let missed = shared.listen_here(last, session.limits.replay_events).await;
    missed.map_err(Rejection::store_failed)
}

async fn delete(sessions: &Arc<Sessions>, request: Parts) -> Result<Response<Body>, Rejection> {
    let session = find(sessions, &request).await?;
    check_revision(&request.headers, session.revision(), &sessions.settings.revisions)?;
    sessions.remove(&session).await?;
    Ok(with_status(StatusCode::NO_CONTENT, Body::default()))
}

async fn find(sessions: &Arc<Sessions>, request: &Parts) -> Result<Arc<HttpSession>, Rejection> {
    let id = session_id(sessions, &request.headers)?.ok_or_else(|| no_session_id(sessions, &request.headers))?;
    sessions.find(id, request).await
}

fn session_id<'h>(sessions: &Sessions, headers: &'h HeaderMap) -> Result<Option<&'h str>, Rejection> {
    let names = &sessions.settings.revisions.session_headers;
    let mut ids = names.iter().flat_map(|name| headers.get_all(name));
    match (ids.next(), ids.next()) {
        (None, _) => Ok(None),
        (Some(id), None) => id.to_str().map(Some).map_err(|_| Rejection::no_such_session()),
        (Some(_), Some(_)) => Err(Rejection::bad_request("More than one session id")),
    }
}

/// The rejection of a request without a session id, or that of its revision if the server doesn't support it.
fn no_session_id(sessions: &Sessions, headers: &HeaderMap) -> Rejection {
    if let Err(unsupported) = check_revision(headers, None, &sessions.settings.revisions) {
        return unsupported;
    }
    let name = sessions.settings.session_header().unwrap_or_default();
    Rejection::bad_request(format!("The header {name} is required"))
}

fn no_such_event() -> Rejection {
    Rejection::bad_request("There is no such event to resume from")
}

/// The first event of a stream. Clients of revisions without polling may treat an event without data as an error.
fn first_event(revision: Revision) -> FirstEvent {
    if revision.facts().polling {
        FirstEvent::Priming
    } else {
        FirstEvent::Retry
    }
}
