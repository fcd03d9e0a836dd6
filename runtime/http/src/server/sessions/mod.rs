//! The sessions of a server.

mod call;
mod find;
mod inbox;
mod lifecycle;
mod start;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Once, OnceLock};

use http::StatusCode;
use http::request::Parts;
use mcp_adapters::Revision;
use mcp_runtime_core::Responder;
use mcp_runtime_util::{Budget, Charge, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Duration, timeout};

pub(crate) use self::call::Responded;

use super::rejection::Rejection;
use super::session::{Client, HttpSession, SessionKind, SessionTransport};
use super::settings::Settings;
use super::store::{Instances, SessionRecord};
use super::stream::LogQueue;

/// Information about a session and its client, for the engine.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The session's id; `None` if the server is stateless.
    pub id: Option<String>,
    /// The principal, as determined by [`HttpServer::principal`](crate::server::HttpServer::principal).
    pub principal: Option<String>,
    /// The HTTP request that started the session, or the first one of the session that came to this machine. Its
    /// extensions have the values that middleware has put there.
    pub request: Parts,
}

/// Starts the engine of a session.
pub(crate) type StartEngine = dyn Fn(SessionTransport, FirstRequest<'_>) + Send + Sync;

/// The request that starts a session.
pub(crate) struct FirstRequest<'a> {
    id: Option<String>,
    client: &'a Client,
    parts: &'a Parts,
}

impl From<FirstRequest<'_>> for SessionInfo {
    fn from(first: FirstRequest<'_>) -> Self {
        Self {
            id: first.id,
            principal: first.client.principal.clone(),
            request: first.parts.clone(),
        }
    }
}

/// The sessions of a server, and its settings.
pub(crate) struct Sessions {
    pub(crate) settings: Settings,
    pub(crate) start_engine: Arc<StartEngine>,
    /// Answers stateless requests, if they don't each need a separate engine.
    pub(crate) responder: Option<Responder>,
    /// The sessions that requests find, by their ids.
    pub(crate) sessions: Mutex<HashMap<String, Arc<HttpSession>>>,
    /// All running sessions, by their addresses in memory: those in `sessions`, those that are starting, and those of
    /// stateless calls.
    running: Mutex<HashMap<usize, Arc<HttpSession>>>,
    /// One permit for each session, and for each stateless call.
    permits: Arc<Semaphore>,
    /// One permit for each stateless request that listens for changes.
    listens: Arc<Semaphore>,
    /// The budget of the bodies of the `initialize` requests.
    handshakes: Arc<Budget>,
    /// The budget of the requests in flight, and of the messages that streams keep.
    pub(crate) memory: Arc<Budget>,
    pub(crate) warned_of_principal: Once,
    /// The part of the store with which instances share streams, if the store has it, and the queue of events to be
    /// logged there.
    instances: Option<Arc<dyn Instances>>,
    log: OnceLock<LogQueue>,
}

impl Sessions {
    pub(crate) fn new(settings: Settings, start_engine: Arc<StartEngine>, responder: Option<Responder>) -> Self {
        Self {
            start_engine,
            responder,
            sessions: Mutex::default(),
            running: Mutex::default(),
            permits: Arc::new(Semaphore::new(settings.max_sessions)),
            listens: Arc::new(Semaphore::new(settings.max_listens)),
            handshakes: Budget::new(settings.max_bytes / 4),
            memory: Budget::new(settings.max_bytes),
            warned_of_principal: Once::new(),
            instances: settings.store.clone().instances(),
            log: OnceLock::new(),
            settings,
        }
    }

    /// Returns a permit for a session of a client whose `initialize` has this many bytes. If there is none left, ends
    /// an idle session.
    pub(crate) async fn permit(
        &self,
        kind: SessionKind,
        client: &Client,
        bytes: usize,
    ) -> Result<SessionPermit, Rejection> {
        // No session has to be ended for a client whose request could never be within the limit.
        if !self.handshakes.can_hold(bytes) {
            let why = "The body is larger than the limit of all requests that start sessions together";
            return Err(Rejection::invalid(StatusCode::PAYLOAD_TOO_LARGE, why));
        }
        let permits = match kind {
            SessionKind::Listening => &self.listens,
            _ => &self.permits,
        };
        let permit = || {
            let permit = permits.clone().try_acquire_owned().ok()?;
            Some((permit, self.handshakes.try_charge(bytes)?))
        };
        loop {
            if let Some(permit) = permit() {
                return Ok(permit);
            }
            if kind == SessionKind::Listening {
                return Err(Rejection::busy("Too many clients listen for changes"));
            }
            // Streams of changes have separate permits.
            let weight = |session: &HttpSession| usize::from(session.kind != SessionKind::Listening);
            if !self.end_idle(Some(client), weight, |_| true).await {
                return Err(Rejection::busy("There are too many sessions"));
            }
        }
    }

    /// Ends an idle session to make room for a client; `false` if there is none.
    ///
    /// It is one that `may_end` accepts, of the client whose sessions and calls have the greatest total weight. It is
    /// never one of a client that has less than the client that needs room. Of that client's sessions, those that were
    /// never used after `initialize` are ended first, and then the one that has been idle longest.
    pub(crate) async fn end_idle(
        &self,
        client: Option<&Client>,
        weight: impl Fn(&HttpSession) -> usize,
        may_end: impl Fn(&HttpSession) -> bool,
    ) -> bool {
        let idle = {
            let (running, sessions) = (self.running.lock(), self.sessions.lock());
            let is_alive = |session: &&Arc<HttpSession>| !session.ended.is_cancelled();
            let mut weights: HashMap<&Client, usize> = HashMap::new();
            for session in running.values().filter(is_alive) {
                *weights.entry(&session.client).or_default() += weight(session);
            }
            let weight_of = |client: &Client| weights.get(client).copied().unwrap_or_default();
            let least = client.map_or(0, weight_of);
            let idle = sessions.values().filter(is_alive);
            let idle = idle.filter(|session| session.is_idle() && may_end(session));
            let idle = idle.filter(|session| weight_of(&session.client) >= least);
            idle.min_by_key(|session| {
                let weight = Reverse(weight_of(&session.client));
                (weight, session.usage.is_confirmed(), session.usage.last())
            })
            .cloned()
        };
        let Some(idle) = idle else { return false };
        tracing::debug!("an idle session ends to make room");
        idle.evict();
        let gone = idle.gone.clone();
        drop(idle);
        let _ = timeout(Duration::from_secs(1), gone.cancelled()).await;
        true
    }

    /// Removes a session that no longer runs.
    pub(crate) fn forget(&self, session: &Arc<HttpSession>) {
        self.running.lock().remove(&address(session));
    }

    /// Makes a session available to clients. If another request has already published one with this id, returns that
    /// one, and ends the new one.
    pub(crate) fn publish(&self, new: NewSession) -> Arc<HttpSession> {
        let session = match self.sessions.lock().entry(new.session.id.clone()) {
            Entry::Occupied(first) => return first.get().clone(),
            Entry::Vacant(place) => place.insert(new.keep()).clone(),
        };
        // If it ended before it was inserted, its task won't remove it.
        if session.ended.is_cancelled() {
            self.sessions.lock().remove(&session.id);
        }
        session
    }

    /// Records a new session in the store.
    pub(crate) async fn record(
        &self,
        session: &HttpSession,
        initialize: Arc<[u8]>,
        revision: Revision,
    ) -> Result<(), Rejection> {
        let record = SessionRecord {
            initialize,
            revision,
            principal: session.client.principal.clone(),
        };
        self.settings
            .store
            .create(&session.id, record, self.settings.initialize_timeout)
            .await
            .map_err(Rejection::store_failed)
    }

    /// Ends a session on every machine, as its client requests.
    pub(crate) async fn remove(&self, session: &HttpSession) -> Result<(), Rejection> {
        let removed = self.settings.store.remove(&session.id).await;
        session.end();
        removed.map_err(Rejection::store_failed)
    }
}

/// The address of a session in memory, which is unique as long as the session is kept.
fn address(session: &Arc<HttpSession>) -> usize {
    Arc::as_ptr(session).addr()
}

impl Drop for Sessions {
    fn drop(&mut self) {
        for session in self.sessions.lock().values() {
            session.end();
        }
    }
}

/// The permits that a session holds until it has ended.
pub(crate) type SessionPermit = (OwnedSemaphorePermit, Charge);

/// A session that ends when this is dropped, unless it was published.
pub(crate) struct NewSession {
    pub(crate) session: Arc<HttpSession>,
    pub(crate) published: bool,
}

impl NewSession {
    /// Returns the session, and leaves its end to others.
    pub(crate) fn keep(mut self) -> Arc<HttpSession> {
        self.published = true;
        self.session.clone()
    }
}

impl Drop for NewSession {
    fn drop(&mut self) {
        if !self.published {
            self.session.end();
        }
    }
}
