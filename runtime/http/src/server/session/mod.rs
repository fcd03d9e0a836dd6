//! A session over HTTP: its engine on one side, the streams to its client on the other.

mod call_sender;
mod client;
mod engine;
mod follow;
mod kind;
mod listener;
mod requests;
mod shared;
mod to_client;
mod to_engine;
mod transport;
mod usage;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::RequestId;
use mcp_runtime_util::{Budget, Mutex};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;

pub(crate) use self::call_sender::CallSender;
pub(crate) use self::client::Client;
pub(crate) use self::engine::{Engine, engine_of};
pub(crate) use self::follow::LoggedEvents;
pub(crate) use self::kind::SessionKind;
pub(crate) use self::shared::SharedSession;
pub use self::transport::{SessionReceiver, SessionSender, SessionTransport};

use self::requests::RequestTable;
use self::to_engine::ToEngine;
use self::usage::Usage;
use super::limits::SessionLimits;
use super::memory::MemoryBudgets;
use super::rejection::Rejection;
use super::settings::Settings;
use super::stream::{Content, STANDALONE, Stream};

/// The state of the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// `initialize` isn't answered yet.
    Starting,
    /// This revision was negotiated.
    Negotiated(Revision),
    /// The handshake has failed, or the session has ended.
    Ended,
}

#[derive(Debug)]
pub(crate) struct HttpSession {
    pub(crate) id: String,
    pub(crate) kind: SessionKind,
    /// The client that has started the session. Requests of other principals don't find it.
    pub(crate) client: Client,
    pub(crate) engine: Engine,
    pub(crate) limits: SessionLimits,
    pub(crate) memory: MemoryBudgets,
    pub(crate) usage: Usage,
    /// The stream for messages that are related to no request.
    pub(crate) standalone: Arc<Stream>,
    pub(crate) ended: CancellationToken,
    /// When the server shuts down, new requests are refused.
    pub(crate) shutdown: CancellationToken,
    /// Cancelled when the session no longer counts toward the limits.
    pub(crate) gone: CancellationToken,
    /// The session ended to make room for another.
    evicted: AtomicBool,
    to_engine: Mutex<ToEngine>,
    phase: watch::Sender<Phase>,
    requests: Mutex<RequestTable>,
    /// Notified when a request is no longer in flight.
    request_done: Notify,
    /// One permit for each POST and GET.
    permits: Arc<Semaphore>,
}

impl HttpSession {
    pub(crate) fn new(
        id: String,
        kind: SessionKind,
        engine: Engine,
        client: Client,
        settings: &Settings,
        server: Arc<Budget>,
    ) -> Arc<Self> {
        let limits = settings.limits.clone();
        let memory = MemoryBudgets {
            session: Budget::new(limits.session_bytes),
            server,
        };
        let session = Self {
            standalone: engine.stream(STANDALONE, Content::Any, memory.clone(), &[]),
            id,
            kind,
            client,
            engine,
            memory,
            usage: Usage::new(),
            ended: CancellationToken::new(),
            shutdown: settings.shutdown.clone(),
            gone: CancellationToken::new(),
            evicted: AtomicBool::new(false),
            to_engine: Mutex::default(),
            phase: watch::Sender::new(Phase::Starting),
            requests: Mutex::default(),
            request_done: Notify::new(),
            permits: Arc::new(Semaphore::new(limits.max_in_flight)),
            limits,
        };
        if kind.is_stateless() {
            // The client sends nothing more in this session.
            session.usage.confirm();
        }
        Arc::new(session)
    }

    pub(crate) fn is_legacy(&self) -> bool {
        self.kind == SessionKind::Legacy
    }

    /// Whether the client can resume a stream that was cut.
    pub(crate) fn is_resumable(&self) -> bool {
        self.kind == SessionKind::Streamable
    }

    /// Whether nothing is in flight and no stream is read.
    pub(crate) fn is_idle(&self) -> bool {
        !self.is_legacy()
            && self.permits.available_permits() >= self.limits.max_in_flight
            && self.requests.lock().is_empty()
    }

    /// The negotiated revision.
    pub(crate) fn revision(&self) -> Option<Revision> {
        match *self.phase.borrow() {
            Phase::Negotiated(revision) => Some(revision),
            Phase::Starting | Phase::Ended => None,
        }
    }

    /// Waits until `initialize` is answered. Returns the negotiated revision, if there is one.
    pub(crate) async fn negotiated(&self) -> Option<Revision> {
        let mut phase = self.phase.subscribe();
        let _ = phase.wait_for(|phase| *phase != Phase::Starting).await;
        self.revision()
    }

    fn set_phase(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// Returns a permit for one more POST or GET.
    pub(crate) fn admit(&self) -> Result<OwnedSemaphorePermit, Rejection> {
        let permit = self.permits.clone().try_acquire_owned();
        permit.map_err(|_| Rejection::busy("Too many requests are in flight in this session"))
    }

    /// Whether the engine has a request in flight with this id.
    pub(crate) fn has_request(&self, id: &RequestId) -> bool {
        self.requests.lock().contains(id)
    }

    /// The stream with this number, if it is still kept.
    pub(crate) fn stream(&self, number: u64) -> Option<Arc<Stream>> {
        match number {
            STANDALONE => Some(self.standalone.clone()),
            _ => self.requests.lock().stream(number),
        }
    }

    /// Keeps a finished stream for a client that resumes it.
    pub(crate) fn keep(&self, stream: Arc<Stream>) {
        self.requests.lock().keep(stream, self.limits.replay_bytes);
    }

    /// Waits until no request is in flight.
    pub(crate) async fn all_done(&self) {
        loop {
            let done = self.request_done.notified();
            if self.requests.lock().is_empty() {
                return;
            }
            done.await;
        }
    }

    /// Ends the session, and notifies its engine.
    pub(crate) fn end(&self) {
        self.ended.cancel();
    }

    /// Ends the session on this machine to make room for another.
    pub(crate) fn evict(&self) {
        self.evicted.store(true, Ordering::Relaxed);
        self.end();
    }

    /// Whether the session can continue on other machines, which share its streams.
    pub(crate) fn continues_elsewhere(&self) -> bool {
        self.engine.shared.is_some() && self.evicted.load(Ordering::Relaxed)
    }

    /// Closes all streams, and the connection to the engine. The client can still read the buffered messages.
    pub(crate) fn close_all(&self) {
        self.ended.cancel();
        self.set_phase(Phase::Ended);
        let requests = std::mem::take(&mut *self.requests.lock());
        requests.end("The session has ended", &self.limits);
        self.standalone.finish();
        // The engine may still hold this session for a while.
        self.standalone.clear_unread();
        *self.to_engine.lock() = ToEngine::Closed;
    }
}
