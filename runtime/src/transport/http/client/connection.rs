//! What all requests of one client share: where to, which session, and who receives.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{self, ErrorObject, RequestId, error_code};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::error::HttpError;
use super::options::HttpOptions;
use crate::error::HttpFailure;
use crate::message::Incoming;
use crate::sync::Mutex;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

pub(super) const JSON: &str = "application/json";
pub(super) const EVENTS: &str = "text/event-stream";

/// What is read of the body of a failure.
const FAILURE_BYTES: usize = 64 * 1024;
/// What is kept of it as text.
const SHOWN_BYTES: usize = 4 * 1024;
/// How long it is waited for.
const FAILURE_PATIENCE: Duration = Duration::from_secs(5);
/// How many challenges are kept, and how long one may be.
const CHALLENGES: usize = 16;
const CHALLENGE_BYTES: usize = 8 * 1024;

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) url: Url,
    pub(super) client: reqwest::Client,
    pub(super) options: HttpOptions,
    pub(super) inbox: mpsc::Sender<Item>,
    pub(super) state: Mutex<State>,
    /// Whoever holds it begins the session anew.
    pub(super) renewing: tokio::sync::Mutex<()>,
    /// The requests whose answers are awaited, each with what ends its waiting.
    pub(super) in_flight: Mutex<HashMap<RequestId, CancellationToken>>,
    pub(super) requests: Arc<Semaphore>,
    pub(super) notices: Arc<Semaphore>,
    pub(super) closing: CancellationToken,
}

/// What the receiver gets.
#[derive(Debug)]
pub(super) enum Item {
    Incoming(Incoming),
    Expired,
    End,
}

/// What is known of the session.
#[derive(Debug)]
pub(super) struct State {
    pub(super) session: Session,
    pub(super) version: Option<HeaderValue>,
    /// Where to POST, if the server only has the older way.
    pub(super) legacy: Option<Url>,
    /// How the session began, unless it can't begin anew.
    pub(super) opening: Option<Opening>,
    /// When the session began in place of another.
    pub(super) renewed: Option<Instant>,
}

/// A session, as HTTP knows it.
#[derive(Debug, Clone)]
pub(super) struct Session {
    /// A server without state gives none.
    pub(super) id: Option<HeaderValue>,
    /// Is done once the session is over.
    pub(super) ends: CancellationToken,
}

/// What a session began with.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    pub(super) initialize: Vec<u8>,
    pub(super) initialized: Option<Vec<u8>>,
    pub(super) revision: Option<Revision>,
}

impl Session {
    /// The id of a session that the server doesn't know any more, as this answer within it says.
    pub(super) fn forgotten(&self, answer: &Response) -> Option<HeaderValue> {
        self.id.clone().filter(|_| answer.status() == StatusCode::NOT_FOUND)
    }
}

impl State {
    pub(super) fn new(closing: &CancellationToken) -> Self {
        Self {
            session: Session {
                id: None,
                ends: closing.child_token(),
            },
            version: None,
            legacy: None,
            opening: None,
            renewed: None,
        }
    }
}

/// The session that an HTTP request is sent in.
#[derive(Clone)]
pub(super) enum Within {
    /// It begins a session, and so it names none.
    None,
    Current,
    /// One that isn't the current one yet.
    Next(Session),
}

/// A client that follows redirections only to where it already is: the session's headers are nobody else's business.
pub(super) fn client(options: &HttpOptions) -> Result<reqwest::Client, HttpError> {
    let redirect = Policy::custom(|attempt| {
        let first = attempt.previous().first().map(Url::origin);
        if attempt.previous().len() > 5 || first != Some(attempt.url().origin()) {
            return attempt.stop();
        }
        attempt.follow()
    });
    let client = reqwest::Client::builder()
        .redirect(redirect)
        .connect_timeout(options.patience)
        .tcp_keepalive(Duration::from_secs(60))
        // Common servers end idle connections after 5 seconds, and a POST that meets such an end can't be repeated.
        .pool_idle_timeout(Duration::from_secs(4));
    Ok(client.build()?)
}

impl Connection {
    /// Hands a message to the receiver, and waits until it has room.
    pub(super) async fn deliver(&self, json: Vec<u8>) {
        self.hand(Item::Incoming(Incoming::message(json))).await;
    }

    /// Tells the receiver that a request will have no answer.
    pub(super) async fn fail(&self, id: RequestId, error: HttpError) {
        let error = error.into();
        self.hand(Item::Incoming(Incoming::Failed { id, error })).await;
    }

    pub(super) async fn refuse_oversized(&self) {
        let text = format!("a message has more than {} bytes", self.options.message_bytes);
        let error = ErrorObject::new(error_code::INVALID_REQUEST, text);
        self.hand(Item::Incoming(Incoming::Refused(error))).await;
    }

    pub(super) async fn hand(&self, item: Item) {
        if self.inbox.send(item).await.is_err() {
            self.closing.cancel();
        }
    }

    /// Forgets a session that the server has forgotten, and tells the receiver, unless that has been done already.
    pub(super) async fn expire(&self, session: &HeaderValue) {
        let forgotten = {
            let mut state = self.state.lock();
            if state.session.id.as_ref() != Some(session) {
                return;
            }
            std::mem::replace(&mut *state, State::new(&self.closing))
        };
        self.hand(Item::Expired).await;
        // Last, since this may be the very task that ends with the session.
        forgotten.session.ends.cancel();
    }

    /// Sends an HTTP request, and says in which session that was.
    pub(super) async fn ask(&self, request: RequestBuilder, within: Within) -> Result<(Response, Session), HttpError> {
        let mut headers = match &self.options.hook {
            Some(hook) => hook(HeaderMap::new()).await.map_err(HttpError::Headers)?,
            None => HeaderMap::new(),
        };
        headers.remove(ACCEPT);
        headers.remove(CONTENT_TYPE);
        let session = {
            let state = self.state.lock();
            let (session, version) = match within {
                Within::None => (State::new(&self.closing).session, None),
                Within::Current => (state.session.clone(), state.version.clone()),
                Within::Next(session) => (session, state.version.clone()),
            };
            headers.extend(session.id.clone().map(|id| (SESSION, id)));
            headers.extend(version.map(|version| (VERSION, version)));
            session
        };
        Ok((request.headers(headers).send().await?, session))
    }

    pub(super) async fn post(&self, url: Url, json: Vec<u8>, within: Within) -> Result<(Response, Session), HttpError> {
        let request = self
            .client
            .post(url)
            .header(CONTENT_TYPE, JSON)
            .header(ACCEPT, format!("{JSON}, {EVENTS}"));
        self.ask(request.body(json), within).await
    }

    /// The session that the answer to `initialize` begins.
    pub(super) fn begun(&self, answer: &Response) -> Session {
        let id = answer.headers().get(SESSION);
        // The protocol allows visible ASCII; anything else couldn't be sent back.
        let id = id.filter(|id| !id.is_empty() && id.as_bytes().iter().all(u8::is_ascii_graphic));
        Session {
            id: id.cloned(),
            ends: self.closing.child_token(),
        }
    }

    /// Begins or leaves a session, as the answer to `initialize` has it.
    pub(super) fn begin(&self, answer: &Response, initialize: Vec<u8>) {
        let mut state = self.state.lock();
        state.session.ends.cancel();
        *state = State {
            session: self.begun(answer),
            opening: Some(Opening {
                initialize,
                initialized: None,
                revision: None,
            }),
            ..State::new(&self.closing)
        };
    }

    /// Ends whatever is under way, and the session on the server.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        let known = self.state.lock().session.id.is_some();
        if !known {
            return;
        }
        let ended = self.ask(self.client.delete(self.url.clone()), Within::Current);
        match tokio::time::timeout(self.options.patience.min(Duration::from_secs(5)), ended).await {
            Ok(Ok((answer, _))) if answer.status() == StatusCode::METHOD_NOT_ALLOWED => {}
            Ok(Ok((answer, _))) => tracing::debug!(status = %answer.status(), "the session is ended"),
            Ok(Err(error)) => tracing::debug!(%error, "the server wasn't told that the session has ended"),
            Err(_) => tracing::debug!("the server didn't answer to the end of the session"),
        }
        self.state.lock().session.id = None;
    }
}

/// The failure that a response of another status than success is. A body that is slow to come isn't waited for.
pub(super) async fn failure(mut response: Response) -> HttpFailure {
    let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter();
    let challenges = challenges
        .filter(|challenge| challenge.len() <= CHALLENGE_BYTES)
        .take(CHALLENGES);
    let challenges = challenges
        .map(|challenge| String::from_utf8_lossy(challenge.as_bytes()).into_owned())
        .collect();
    let status = response.status();
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await
            && body.len() < FAILURE_BYTES
        {
            let room = FAILURE_BYTES - body.len();
            body.extend(chunk.iter().take(room));
        }
    };
    if tokio::time::timeout(FAILURE_PATIENCE, reading).await.is_err() {
        tracing::debug!(%status, "the body of a failure is slow to come");
    }
    HttpFailure {
        status,
        challenges,
        response: mcp_wire::from_slice(&body).ok(),
        body: String::from_utf8_lossy(body.get(..SHOWN_BYTES).unwrap_or(&body)).into_owned(),
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

/// The body of a response, unless it is over the limit.
pub(super) async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > limit {
            return Err(HttpError::TooLarge(limit));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
