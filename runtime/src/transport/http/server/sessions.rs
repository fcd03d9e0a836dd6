//! Beginning sessions, finding them again, and ending them.

use std::collections::HashMap;
use std::sync::{Arc, Once, Weak};

use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use mcp_adapters::Revision;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Duration, Instant, timeout};

use super::config::HttpServer;
use super::message::Posted;
use super::refusal::Refusal;
use super::session::{Kind, Session};
use super::store::SessionRecord;
use super::stream::Content;
use super::transport::SessionTransport;
use crate::budget::{Budget, Charge};
use crate::message::Transport as _;
use crate::sync::Mutex;
use crate::transport::channel;

/// What an engine may want to know of the client that it is started for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The session's id; absent where there are no sessions.
    pub id: Option<String>,
    /// Who the client is, as [`HttpServer::principal`] says.
    pub principal: Option<String>,
    /// The request that began the session, or brought it to this machine. Layers around the router may have left
    /// something in its extensions.
    pub request: Parts,
}

type Serve = dyn Fn(SessionTransport, SessionInfo) + Send + Sync;

/// What all requests share.
pub(super) struct Shared {
    pub(super) config: HttpServer,
    serve: Box<Serve>,
    live: Mutex<HashMap<String, Arc<Session>>>,
    room: Arc<Semaphore>,
    /// How sessions began.
    openings: Arc<Budget>,
    /// What is in flight, and what streams keep.
    pub(super) memory: Arc<Budget>,
    unbound: Once,
}

impl Shared {
    pub(super) fn new(
        config: HttpServer,
        serve: impl Fn(SessionTransport, SessionInfo) + Send + Sync + 'static,
    ) -> Self {
        Self {
            serve: Box::new(serve),
            live: Mutex::default(),
            room: Arc::new(Semaphore::new(config.max_sessions)),
            openings: Budget::new(config.max_bytes / 4),
            memory: Budget::new(config.max_bytes),
            unbound: Once::new(),
            config,
        }
    }

    /// Room for a session that began with this many bytes; if need be, the place of one that is idle.
    async fn place(&self, bytes: usize) -> Result<Place, Refusal> {
        let place = || {
            let permit = self.room.clone().try_acquire_owned().ok()?;
            Some((permit, self.openings.try_charge(bytes)?))
        };
        loop {
            if let Some(place) = place() {
                return Ok(place);
            }
            if !self.end_idle(|_| true).await {
                return Err(Refusal::busy("There are too many sessions"));
            }
        }
    }

    /// Ends the session that has been idle longest, of those that may be ended; `false` if there is none. Those whose
    /// clients have said nothing after `initialize` go first.
    pub(super) async fn end_idle(&self, may_end: impl Fn(&Session) -> bool) -> bool {
        let idle = {
            let live = self.live.lock();
            let idle = live.values().filter(|session| {
                let ended = session.ended.is_cancelled();
                !ended && session.is_idle() && may_end(session)
            });
            idle.min_by_key(|session| (session.is_confirmed(), session.used()))
                .cloned()
        };
        let Some(idle) = idle else { return false };
        tracing::debug!("an idle session makes room");
        idle.end();
        let gone = idle.gone.clone();
        drop(idle);
        let _ = timeout(Duration::from_secs(1), gone.cancelled()).await;
        true
    }

    /// Starts an engine for a session that hasn't begun yet; it ends when what is returned is dropped. How it begins has
    /// this many bytes.
    pub(super) async fn start(
        self: &Arc<Self>,
        id: String,
        kind: Kind,
        parts: &Parts,
        bytes: usize,
    ) -> Result<Beginning, Refusal> {
        if self.config.shutdown.is_cancelled() {
            return Err(Refusal::shutting_down());
        }
        let place = self.place(bytes).await?;
        let (ours, engines) = channel(self.config.limits.capacity);
        let ((to_engine, _), (_, posted)) = (ours.split(), engines.split());
        let shutdown = self.config.shutdown.clone();
        if self.config.principal.is_none() && kind != Kind::Once && parts.headers.contains_key(AUTHORIZATION) {
            self.unbound.call_once(|| {
                tracing::warn!(
                    "clients authenticate, but whoever knows a session's id may use it: set HttpServer::principal"
                );
            });
        }
        let principal = self.config.principal_of(parts);
        let limits = self.config.limits.clone();
        let memory = self.memory.clone();
        let session = Session::new(id.clone(), kind, principal.clone(), limits, memory, to_engine, shutdown);
        let session = session.map_err(no_randomness)?;
        let info = SessionInfo {
            id: (kind != Kind::Once).then_some(id),
            principal,
            request: parts.clone(),
        };
        // From here on the session ends whatever happens, a panic of `serve` included.
        let beginning = Beginning {
            session: session.clone(),
            published: false,
        };
        (self.serve)(SessionTransport::new(session.clone(), posted), info);
        tokio::spawn(run(session, Arc::downgrade(self), place));
        Ok(beginning)
    }

    /// An id that nobody can guess: 128 bits from the operating system.
    pub(super) fn new_id() -> Result<String, Refusal> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(no_randomness)?;
        Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
    }

    /// Lets clients find a session.
    pub(super) fn publish(&self, mut beginning: Beginning) -> Arc<Session> {
        beginning.published = true;
        let session = beginning.session.clone();
        self.live.lock().insert(session.id.clone(), session.clone());
        // It may have ended before it could be found, and then nobody else takes it out.
        if session.ended.is_cancelled() {
            self.live.lock().remove(&session.id);
        }
        session
    }

    /// The session of the older transport with this id, if it belongs to whoever sent the request.
    pub(super) fn find_legacy(&self, id: &str, parts: &Parts) -> Result<Arc<Session>, Refusal> {
        let principal = self.config.principal_of(parts);
        let live = self.live.lock().get(id).cloned();
        let session = live
            .filter(|session| session.is_legacy() && session.principal == principal)
            .ok_or_else(Refusal::no_such_session)?;
        if session.revision().is_some() {
            session.confirm();
        }
        Ok(session)
    }

    /// The session with this id, which may have begun on another machine, if it belongs to whoever sent the request.
    pub(super) async fn find(self: &Arc<Self>, id: &str, parts: &Parts) -> Result<Arc<Session>, Refusal> {
        let principal = self.config.principal_of(parts);
        let live = self.live.lock().get(id).cloned();
        if live
            .as_ref()
            .is_some_and(|session| session.is_legacy() || session.principal != principal)
        {
            return Err(Refusal::no_such_session());
        }
        let record = self
            .config
            .store
            .touch(id, self.config.expiry)
            .await
            .map_err(store_fails)?;
        match (live, record) {
            (Some(session), Some(_)) => {
                session.confirm();
                Ok(session)
            }
            (None, Some(record)) if record.principal == principal => self.revive(id, record, parts).await,
            (None, Some(_)) => Err(Refusal::no_such_session()),
            (live, None) => {
                if let Some(session) = live {
                    session.end();
                }
                Err(Refusal::no_such_session())
            }
        }
    }

    /// Begins a session that began elsewhere once more.
    async fn revive(self: &Arc<Self>, id: &str, record: SessionRecord, parts: &Parts) -> Result<Arc<Session>, Refusal> {
        let bytes = record.initialize.len();
        let beginning = self.start(id.to_owned(), Kind::Streams, parts, bytes).await?;
        let initialize = Posted::read(record.initialize.to_vec())?;
        let revision = self.introduce(&beginning, initialize, parts).await?;
        if revision != record.revision {
            tracing::warn!(%revision, agreed = %record.revision, "the machines that share sessions differ");
            return Err(Refusal::no_such_session());
        }
        // Two requests may have come at once; then the first has won, and this engine goes.
        if let Some(session) = self.live.lock().get(id) {
            return Ok(session.clone());
        }
        beginning.session().confirm();
        Ok(self.publish(beginning))
    }

    /// Does what a client does at the beginning, and keeps the answer to itself.
    pub(super) async fn introduce(
        &self,
        beginning: &Beginning,
        initialize: Posted,
        parts: &Parts,
    ) -> Result<Revision, Refusal> {
        let session = beginning.session();
        session.post(initialize, parts.clone(), Content::Answers).await?;
        let revision = session.agreed().await.ok_or_else(Refusal::internal)?;
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let initialized = Posted::read(initialized.to_string().into())?;
        session.post(initialized, parts.clone(), Content::Answers).await?;
        Ok(revision)
    }

    /// What a client would have begun with that only says which revision it speaks.
    pub(super) fn bare_initialize(revision: Revision) -> Result<Posted, Refusal> {
        let client = json!({"name": "unknown", "version": "0"});
        let params = json!({"protocolVersion": revision.as_str(), "capabilities": {}, "clientInfo": client});
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        Posted::read(initialize.to_string().into())
    }

    /// Writes down a session that has begun.
    pub(super) async fn record(
        &self,
        session: &Session,
        initialize: Arc<[u8]>,
        revision: Revision,
    ) -> Result<(), Refusal> {
        let record = SessionRecord {
            initialize,
            revision,
            principal: session.principal.clone(),
        };
        self.config
            .store
            .create(&session.id, record, self.config.opening)
            .await
            .map_err(store_fails)
    }

    /// Ends a session that its client no longer wants, on every machine.
    pub(super) async fn remove(&self, session: &Session) -> Result<(), Refusal> {
        let removed = self.config.store.remove(&session.id).await;
        session.end();
        removed.map_err(store_fails)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        for session in self.live.lock().values() {
            session.end();
        }
    }
}

fn no_randomness(error: getrandom::Error) -> Refusal {
    tracing::error!(%error, "the operating system has no random bytes");
    Refusal::internal()
}

fn store_fails(error: super::store::StoreError) -> Refusal {
    tracing::error!(error, "the store of sessions fails");
    Refusal::internal()
}

/// A session that ends unless it is published.
pub(super) struct Beginning {
    session: Arc<Session>,
    published: bool,
}

impl Beginning {
    pub(super) fn session(&self) -> &Arc<Session> {
        &self.session
    }
}

impl Drop for Beginning {
    fn drop(&mut self) {
        if !self.published {
            self.session.end();
        }
    }
}

/// What a session takes until it has ended.
type Place = (OwnedSemaphorePermit, Charge);

/// A session's life, until its engine, its client or time ends it.
async fn run(session: Arc<Session>, shared: Weak<Shared>, place: Place) {
    let _gone = session.gone.clone().drop_guard();
    let _place = place;
    let Some((opening, expiry, grace)) = shared
        .upgrade()
        .map(|shared| (shared.config.opening, shared.config.expiry, shared.config.grace))
    else {
        return;
    };
    let mut expired = false;
    {
        let mut drained = std::pin::pin!(async {
            session.shutdown.cancelled().await;
            if timeout(grace, session.all_answered()).await.is_err() {
                tracing::warn!("requests of a session aren't answered before the server shuts down");
            }
        });
        let mut renewed = session.used();
        while !expired {
            // The store has to hear of a client that only listens before the record expires there.
            let look = session.expires(opening, expiry).min(Instant::now() + expiry / 2);
            tokio::select! {
                biased;
                () = session.ended.cancelled() => break,
                () = &mut drained => break,
                () = tokio::time::sleep_until(look) => {
                    let used = session.used();
                    expired = session.expires(opening, expiry) <= Instant::now();
                    if !expired && used > renewed {
                        renewed = used;
                        expired = !renew(&session, &shared).await;
                    }
                }
            }
        }
    }
    tracing::debug!(expired, "a session ends");
    session.close_all();
    session.hang_up().await;
    let Some(shared) = shared.upgrade() else {
        return;
    };
    let is_itself = |now: &Arc<Session>| Arc::ptr_eq(now, &session);
    if !shared.live.lock().get(&session.id).is_some_and(is_itself) {
        return;
    }
    // A session that has expired here may be in use elsewhere, and one that outlives this server may be so again.
    let stays = expired || session.is_legacy() || shared.config.shutdown.is_cancelled();
    if !stays && let Err(error) = shared.config.store.remove(&session.id).await {
        tracing::error!(error, "the store of sessions fails");
    }
    let mut live = shared.live.lock();
    if live.get(&session.id).is_some_and(is_itself) {
        live.remove(&session.id);
    }
}

/// Tells the store that the client is there, and says whether nobody has ended the session elsewhere.
async fn renew(session: &Session, shared: &Weak<Shared>) -> bool {
    let Some(shared) = shared.upgrade() else {
        return false;
    };
    if session.is_legacy() || session.kind == Kind::Once || session.revision().is_none() {
        return true;
    }
    match shared.config.store.touch(&session.id, shared.config.expiry).await {
        Ok(record) => record.is_some(),
        Err(error) => {
            tracing::error!(error, "the store of sessions fails");
            true
        }
    }
}
