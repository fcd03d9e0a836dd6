//! The one endpoint of Streamable HTTP.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_core::Stream as _;
use mcp_adapters::Revision;
use tokio::time::{Duration, timeout};

use super::Server;
use super::guard::{accepts, check_content_type, check_revision, not_acceptable};
use super::message::{Posted, join_answers};
use super::reader::{EventId, Opening, Reader};
use super::refusal::Refusal;
use super::session::{Kind, Session};
use super::sessions::Shared;
use super::stream::{Content, Stream, Unresumable};
use crate::budget::Charge;

pub(super) const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
const JSON: &str = "application/json";
pub(super) const EVENTS: &str = "text/event-stream";
/// How long a client may take to send a body.
const BODY_PATIENCE: Duration = Duration::from_secs(60);
/// An idle session that keeps more bytes than this ends when the server has no room.
const MUCH: usize = 64 << 10;

/// Answers a request, whichever method it has.
pub(super) async fn handle(State(server): State<Server>, request: Request) -> Response {
    let method = request.method().clone();
    let answer = match method {
        Method::POST => post(&server, request).await,
        Method::GET if !server.config.stateless => listen(&server, request.into_parts().0).await,
        Method::DELETE if !server.config.stateless => delete(&server, request.into_parts().0).await,
        _ => Err(Refusal::invalid(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed")),
    };
    let mut response = answer.unwrap_or_else(IntoResponse::into_response);
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        let allowed = if server.config.stateless {
            "POST"
        } else {
            "GET, POST, DELETE"
        };
        response
            .headers_mut()
            .insert(header::ALLOW, HeaderValue::from_static(allowed));
    }
    response
}

async fn post(server: &Server, request: Request) -> Result<Response, Refusal> {
    check_content_type(request.headers())?;
    let (parts, body) = request.into_parts();
    let posted = read_body(server, body).await?;
    let id = posted.only_request().cloned();
    let answered = post_message(server, parts, posted).await;
    answered.map_err(|refusal| refusal.about(id))
}

async fn post_message(server: &Server, parts: Parts, posted: Posted) -> Result<Response, Refusal> {
    let form = Form::of(&parts.headers, server.config.json_only)?;
    if server.config.stateless {
        return post_once(server, parts, posted).await;
    }
    let Some(id) = session_id(&parts.headers)? else {
        return match posted.initialize {
            Some(_) => begin(server, parts, posted, form).await,
            None => Err(no_session_id()),
        };
    };
    let session = server.find(id, &parts).await?;
    let revision = check_revision(&parts.headers, session.revision(), &server.config.revisions)?;
    check_batch(&posted, revision)?;
    let permit = session.admit()?;
    let batch = posted.batch;
    let stream = session.post(posted, parts, form.content()).await?;
    match stream {
        None => Ok(StatusCode::ACCEPTED.into_response()),
        Some(stream) => {
            let answers = answers(&session, &stream, form).await;
            match answers {
                Some(answers) => Ok(json(batch, answers)),
                None => Ok(events(stream.open(&session, opening(revision), Some(permit)))),
            }
        }
    }
}

/// How a POST may be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// By one JSON value.
    Json,
    /// By a stream of events.
    Events,
    Either,
}

impl Form {
    /// What the client understands. The protocol wants it to understand both; one is enough.
    fn of(headers: &HeaderMap, json_only: bool) -> Result<Self, Refusal> {
        match (accepts(headers, JSON), accepts(headers, EVENTS)) {
            (true, false) => Ok(Self::Json),
            (true, true) if json_only => Ok(Self::Json),
            (true, true) => Ok(Self::Either),
            (false, true) if !json_only => Ok(Self::Events),
            (false, _) if json_only => Err(not_acceptable(&[JSON])),
            (false, _) => Err(not_acceptable(&[JSON, EVENTS])),
        }
    }

    fn content(self) -> Content {
        match self {
            Self::Json => Content::Answers,
            Self::Events | Self::Either => Content::Any,
        }
    }
}

/// The answers to a POST if they are to be one JSON value, and `None` if they are to be a stream of events.
///
/// Headers and the first event of a stream are two writes, the second of which waits for the acknowledgement of the first
/// where Nagle's algorithm is on. So an answer that comes soon, with nothing before it, is one JSON value.
async fn answers(session: &Session, stream: &Stream, form: Form) -> Option<Vec<Bytes>> {
    match form {
        Form::Json => stream.answers().await,
        Form::Either => timeout(session.limits.stream_after, stream.answers()).await.ok()?,
        Form::Events => None,
    }
}

/// The request that begins a session. Its answer is waited for, since there is no session if it is an error.
async fn begin(server: &Server, parts: Parts, posted: Posted, form: Form) -> Result<Response, Refusal> {
    let id = Shared::new_id()?;
    let beginning = server
        .start(id.clone(), Kind::Streams, &parts, posted.json.len())
        .await?;
    let session = beginning.session().clone();
    let permit = session.admit()?;
    let (initialize, asked): (Arc<[u8]>, _) = (posted.json[..].into(), posted.initialize.flatten());
    let stream = session.post(posted, parts, form.content()).await?;
    let stream = stream.ok_or_else(Refusal::internal)?;
    let agreed = session.agreed().await;
    if let Some(revision) = agreed {
        server.record(&session, initialize, revision).await?;
        server.publish(beginning);
    }
    let mut response = match answers(&session, &stream, form).await {
        Some(answers) => json(false, answers),
        None => {
            let opening = opening(agreed.or(asked).unwrap_or(Revision::HUB));
            events(stream.open(&session, opening, Some(permit)))
        }
    };
    if agreed.is_some() {
        let id = HeaderValue::from_str(&id).map_err(|_| Refusal::internal())?;
        response.headers_mut().insert(SESSION, id);
    }
    Ok(response)
}

/// A request without a session: it has an engine of its own.
async fn post_once(server: &Server, parts: Parts, posted: Posted) -> Result<Response, Refusal> {
    let agreed = posted.initialize.flatten();
    let revision = match posted.initialize {
        Some(_) => agreed.unwrap_or(Revision::HUB),
        None => check_revision(&parts.headers, None, &server.config.revisions)?,
    };
    check_batch(&posted, revision)?;
    if posted.requests.is_empty() {
        // Whatever it is about, there is no engine any more that would care.
        return Ok(StatusCode::ACCEPTED.into_response());
    }
    let beginning = server.start(String::new(), Kind::Once, &parts, 0).await?;
    if posted.initialize.is_none() && revision.facts().initializes {
        let initialize = Shared::bare_initialize(revision)?;
        server.introduce(&beginning, initialize, &parts).await?;
    }
    let session = beginning.session();
    let batch = posted.batch;
    let stream = session.post(posted, parts, Content::Answers).await?;
    let stream = stream.ok_or_else(Refusal::internal)?;
    let answers = stream.answers().await.ok_or_else(Refusal::internal)?;
    Ok(json(batch, answers))
}

/// Opens the session's own stream, or takes up one that was cut.
async fn listen(server: &Server, request: Parts) -> Result<Response, Refusal> {
    let headers = &request.headers;
    if !accepts(headers, EVENTS) {
        return Err(not_acceptable(&[EVENTS]));
    }
    let session = find(server, &request).await?;
    let revision = check_revision(headers, session.revision(), &server.config.revisions)?;
    let permit = session.admit()?;
    let last = headers.get(LAST_EVENT).filter(|last| !last.is_empty());
    let last = match last {
        None => None,
        Some(last) => Some(last.to_str().ok().and_then(EventId::parse).ok_or_else(no_such_event)?),
    };
    let (opening, permit) = (opening(revision), Some(permit));
    match last {
        Some(last) if last.nonce == session.nonce => {
            let stream = session.stream(last.stream).ok_or_else(no_such_event)?;
            match stream.resume(&session, last, opening, permit) {
                Ok(reader) => Ok(events(reader)),
                Err(Unresumable::NoSuchEvent) => Err(no_such_event()),
                Err(Unresumable::NothingLeft) => Ok(StatusCode::NO_CONTENT.into_response()),
            }
        }
        // A stream for one request ended with the machine that had it; of its own accord a server speaks on any.
        Some(last) if last.stream != session.own.id => Err(no_such_event()),
        _ => Ok(events(session.own.open(&session, opening, permit))),
    }
}

async fn delete(server: &Server, request: Parts) -> Result<Response, Refusal> {
    let session = find(server, &request).await?;
    check_revision(&request.headers, session.revision(), &server.config.revisions)?;
    server.remove(&session).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn find(server: &Server, request: &Parts) -> Result<Arc<Session>, Refusal> {
    let id = session_id(&request.headers)?.ok_or_else(no_session_id)?;
    server.find(id, request).await
}

fn session_id(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let mut ids = headers.get_all(SESSION).iter();
    match (ids.next(), ids.next()) {
        (None, _) => Ok(None),
        (Some(id), None) => id.to_str().map(Some).map_err(|_| Refusal::no_such_session()),
        (Some(_), Some(_)) => Err(Refusal::bad_request("More than one Mcp-Session-Id")),
    }
}

fn no_session_id() -> Refusal {
    Refusal::bad_request("The header Mcp-Session-Id is required")
}

fn no_such_event() -> Refusal {
    Refusal::bad_request("There is no such event to resume from")
}

/// Reads what a client posts.
pub(super) async fn read_body(server: &Server, body: Body) -> Result<Posted, Refusal> {
    let collected = timeout(BODY_PATIENCE, collect(server, body)).await;
    let collected = collected.map_err(|_| Refusal::invalid(StatusCode::REQUEST_TIMEOUT, "The body doesn't come"))?;
    let (json, held) = collected?;
    let mut posted = Posted::read(json)?;
    posted.held = Some(Arc::new(held));
    Ok(posted)
}

/// Reads a body, and counts it as it comes.
async fn collect(server: &Server, body: Body) -> Result<(Vec<u8>, Charge), Refusal> {
    let mut body = pin!(body.into_data_stream());
    let mut json = Vec::new();
    let mut held = server.memory.charge(0);
    while let Some(chunk) = poll_fn(|cx| body.as_mut().poll_next(cx)).await {
        let chunk = chunk.map_err(|error| Refusal::bad_request(format!("The body can't be read: {error}")))?;
        if json.len() + chunk.len() > server.config.max_body {
            let why = format!("The body has more than {} bytes", server.config.max_body);
            return Err(Refusal::invalid(StatusCode::PAYLOAD_TOO_LARGE, why));
        }
        while !held.try_grow(chunk.len()) {
            let keeps_much = |session: &Session| session.memory.session.taken() > MUCH;
            if !server.end_idle(keeps_much).await {
                return Err(Refusal::busy("The server holds as much as it may"));
            }
        }
        json.extend_from_slice(&chunk);
    }
    Ok((json, held))
}

/// Refuses a batch where there are none.
pub(super) fn check_batch(posted: &Posted, revision: Revision) -> Result<(), Refusal> {
    match posted.batch && !revision.facts().batches {
        true => Err(Refusal::bad_request(format!("Revision {revision} has no batches"))),
        false => Ok(()),
    }
}

/// Clients of other revisions may take an event without data for an error.
fn opening(revision: Revision) -> Opening {
    if revision.facts().polling {
        Opening::Primed
    } else {
        Opening::Quiet
    }
}

/// The response whose body is one JSON value.
fn json(batch: bool, answers: Vec<Bytes>) -> Response {
    if answers.is_empty() {
        // It was cancelled, and nobody waits for an answer.
        return StatusCode::ACCEPTED.into_response();
    }
    let body = Body::from(join_answers(batch, answers));
    ([(header::CONTENT_TYPE, JSON)], body).into_response()
}

/// The response whose body is a stream of events.
pub(super) fn events(reader: Reader) -> Response {
    let headers = [
        (header::CONTENT_TYPE, EVENTS),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        // Some proxies keep a response until it is whole, unless they are told.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(reader)).into_response()
}
