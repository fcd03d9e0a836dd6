//! The sessions of a server.

mod find;
mod inbox;
mod lifecycle;
mod start;

use std::collections::HashMap;
use std::sync::{Arc, Once, OnceLock};

use axum::http::request::Parts;
use mcp_adapters::Revision;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Duration, timeout};

use super::config::HttpServer;
use super::rejection::Rejection;
use super::session::{HttpSession, SessionTransport};
use super::store::{Instances, SessionRecord};
use super::stream::LogQueue;
use crate::budget::{Budget, Charge};
use crate::sync::Mutex;

/// What the engine of a session may need to know of its client.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The session's id; `None` if the server is stateless.
    pub id: Option<String>,
    /// The principal, as determined by [`HttpServer::principal`].
    pub principal: Option<String>,
    /// The HTTP request that started the session, or that brought it to this machine. Its extensions have the values that
    /// middleware has left there.
    pub request: Parts,
}

type StartEngine = dyn Fn(SessionTransport, SessionInfo) + Send + Sync;

/// The sessions of a server, and its configuration.
pub(crate) struct Sessions {
    pub(crate) config: HttpServer,
    pub(crate) start_engine: Box<StartEngine>,
    pub(crate) sessions: Mutex<HashMap<String, Arc<HttpSession>>>,
    /// One permit for each session.
    permits: Arc<Semaphore>,
    /// The bodies of the `initialize` requests.
    handshakes: Arc<Budget>,
    /// The requests in flight, and the messages that streams keep.
    pub(crate) memory: Arc<Budget>,
    pub(crate) warned_of_principal: Once,
    /// What the store shares besides sessions, if it does, and the queue of the events that are logged there.
    instances: Option<Arc<dyn Instances>>,
    log: OnceLock<LogQueue>,
}

impl Sessions {
    pub(crate) fn new(
        config: HttpServer,
        start_engine: impl Fn(SessionTransport, SessionInfo) + Send + Sync + 'static,
    ) -> Self {
        Self {
            start_engine: Box::new(start_engine),
            sessions: Mutex::default(),
            permits: Arc::new(Semaphore::new(config.max_sessions)),
            handshakes: Budget::new(config.max_bytes / 4),
            memory: Budget::new(config.max_bytes),
            warned_of_principal: Once::new(),
            instances: config.store.clone().instances(),
            log: OnceLock::new(),
            config,
        }
    }

    /// A permit for a session whose `initialize` has this many bytes. If there is none left, an idle session ends.
    pub(crate) async fn permit(&self, bytes: usize) -> Result<SessionPermit, Rejection> {
        let permit = || {
            let permit = self.permits.clone().try_acquire_owned().ok()?;
            Some((permit, self.handshakes.try_charge(bytes)?))
        };
        loop {
            if let Some(permit) = permit() {
                return Ok(permit);
            }
            if !self.end_idle(|_| true).await {
                return Err(Rejection::busy("There are too many sessions"));
            }
        }
    }

    /// Ends the session that has been idle longest, of those that `may_end` accepts; `false` if there is none. Sessions whose
    /// clients have sent nothing after `initialize` end first.
    pub(crate) async fn end_idle(&self, may_end: impl Fn(&HttpSession) -> bool) -> bool {
        let idle = {
            let sessions = self.sessions.lock();
            let idle = sessions.values().filter(|session| {
                let ended = session.ended.is_cancelled();
                !ended && session.is_idle() && may_end(session)
            });
            idle.min_by_key(|session| (session.usage.is_confirmed(), session.usage.last()))
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

    /// Makes a session available to clients.
    pub(crate) fn publish(&self, new: NewSession) -> Arc<HttpSession> {
        let session = new.keep();
        self.sessions.lock().insert(session.id.clone(), session.clone());
        // If it has ended before this, nobody else removes it.
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
            principal: session.principal.clone(),
        };
        self.config
            .store
            .create(&session.id, record, self.config.opening)
            .await
            .map_err(Rejection::store_failed)
    }

    /// Ends a session on every machine, as its client requests.
    pub(crate) async fn remove(&self, session: &HttpSession) -> Result<(), Rejection> {
        let removed = self.config.store.remove(&session.id).await;
        session.end();
        removed.map_err(Rejection::store_failed)
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        for session in self.sessions.lock().values() {
            session.end();
        }
    }
}

/// What a session holds until it has ended.
pub(crate) type SessionPermit = (OwnedSemaphorePermit, Charge);

/// A session that ends when this is dropped, unless it was published.
pub(crate) struct NewSession {
    pub(crate) session: Arc<HttpSession>,
    pub(crate) published: bool,
}

impl NewSession {
    /// The session, which somebody else ends.
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
