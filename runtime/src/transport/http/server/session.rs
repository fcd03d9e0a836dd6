//! A session over HTTP: its engine on one side, the streams to its client on the other.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Bytes;
use axum::http::Extensions;
use axum::http::request::Parts;
use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::RequestId;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use super::config::HttpServer;
use super::engine_id::EngineId;
use super::limits::SessionLimits;
use super::memory::MemoryBudgets;
use super::message::{PostBody, negotiated_revision};
use super::rejection::Rejection;
use super::requests::{OpenStream, Request, RequestTable};
use super::stream::{Content, STANDALONE, Stream};
use crate::budget::Budget;
use crate::message::{Outgoing, Principal, Purpose, Sender as _};
use crate::sync::Mutex;
use crate::transport::ChannelSender;

/// How the messages of a session reach its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionKind {
    /// On one stream for each POST, and on the standalone stream.
    Streamable,
    /// In the response to the only POST.
    Stateless,
    /// In the response to the only POST, which has room for nothing but responses.
    JsonOnly,
    /// On one stream, in HTTP with SSE.
    Legacy,
}

impl SessionKind {
    /// Whether the session ends with the response to its only POST.
    pub(super) fn is_stateless(self) -> bool {
        matches!(self, Self::Stateless | Self::JsonOnly)
    }
}

/// The state of the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// `initialize` isn't answered yet.
    Starting,
    /// This revision was negotiated.
    Negotiated(Revision),
    /// The handshake has failed, or the session has ended.
    Ended,
}

#[derive(Debug)]
pub(super) struct HttpSession {
    pub(super) id: String,
    pub(super) kind: SessionKind,
    /// The principal that has started the session. Requests of others don't find it.
    pub(super) principal: Option<String>,
    pub(super) engine: EngineId,
    /// Notified when a stream of another instance that is read here has another event.
    pub(super) logged_elsewhere: Notify,
    pub(super) limits: SessionLimits,
    /// The stream for messages that are related to no request.
    pub(super) standalone: Arc<Stream>,
    pub(super) ended: CancellationToken,
    /// When the server shuts down, new requests are refused.
    pub(super) shutdown: CancellationToken,
    to_engine: ChannelSender,
    phase: watch::Sender<Phase>,
    requests: Mutex<RequestTable>,
    /// Notified when a request is no longer in flight.
    request_done: Notify,
    started: Instant,
    last_used: Mutex<Instant>,
    /// The client has sent something after `initialize`.
    confirmed: AtomicBool,
    /// The session ended to make room for another.
    evicted: AtomicBool,
    /// Cancelled when the session takes no room any more.
    pub(super) gone: CancellationToken,
    pub(super) memory: MemoryBudgets,
    /// One permit for each POST and GET.
    permits: Arc<Semaphore>,
}

impl HttpSession {
    pub(super) fn new(
        id: String,
        kind: SessionKind,
        engine: EngineId,
        principal: Option<String>,
        config: &HttpServer,
        server: Arc<Budget>,
        to_engine: ChannelSender,
    ) -> Arc<Self> {
        let limits = config.limits.clone();
        let memory = MemoryBudgets {
            session: Budget::new(limits.session_bytes),
            server,
        };
        Arc::new(Self {
            standalone: engine.stream(&id, STANDALONE, Content::Any, memory.clone(), &[]),
            id,
            kind,
            principal,
            engine,
            logged_elsewhere: Notify::new(),
            ended: CancellationToken::new(),
            shutdown: config.shutdown.clone(),
            to_engine,
            phase: watch::Sender::new(Phase::Starting),
            requests: Mutex::default(),
            request_done: Notify::new(),
            memory,
            confirmed: AtomicBool::new(false),
            gone: CancellationToken::new(),
            started: Instant::now(),
            last_used: Mutex::new(Instant::now()),
            permits: Arc::new(Semaphore::new(limits.max_in_flight)),
            limits,
            evicted: AtomicBool::new(false),
        })
    }

    pub(super) fn is_legacy(&self) -> bool {
        self.kind == SessionKind::Legacy
    }

    /// Whether the client may go on with a stream that was cut.
    pub(super) fn is_resumable(&self) -> bool {
        self.kind == SessionKind::Streamable
    }

    /// The client uses the session that it has started.
    pub(super) fn confirm(&self) {
        self.confirmed.store(true, Ordering::Relaxed);
        self.touch();
    }

    /// Whether the client has used the session since it started.
    pub(super) fn is_confirmed(&self) -> bool {
        self.confirmed.load(Ordering::Relaxed)
    }

    /// Whether nothing is in flight and no stream is read.
    pub(super) fn is_idle(&self) -> bool {
        !self.is_legacy()
            && self.permits.available_permits() >= self.limits.max_in_flight
            && self.requests.lock().requests.is_empty()
    }

    /// When the session ends unless its client uses it.
    pub(super) fn expires(&self, opening: Duration, expiry: Duration) -> Instant {
        match self.is_confirmed() {
            true => self.last_used() + expiry,
            false => self.started + opening,
        }
    }

    /// The client uses the session now.
    pub(super) fn touch(&self) {
        *self.last_used.lock() = Instant::now();
    }

    /// When the client has last used the session.
    pub(super) fn last_used(&self) -> Instant {
        *self.last_used.lock()
    }

    /// The negotiated revision.
    pub(super) fn revision(&self) -> Option<Revision> {
        match *self.phase.borrow() {
            Phase::Negotiated(revision) => Some(revision),
            Phase::Starting | Phase::Ended => None,
        }
    }

    /// Waits until `initialize` is answered; the negotiated revision, if there is one.
    pub(super) async fn negotiated(&self) -> Option<Revision> {
        let mut phase = self.phase.subscribe();
        let _ = phase.wait_for(|phase| *phase != Phase::Starting).await;
        self.revision()
    }

    /// Ends the session. Its engine learns of it.
    pub(super) fn end(&self) {
        self.ended.cancel();
    }

    /// Ends the session here to make room for another.
    pub(super) fn evict(&self) {
        self.evicted.store(true, Ordering::Relaxed);
        self.end();
    }

    /// Whether the session may go on on other machines, which share its streams.
    pub(super) fn goes_on_elsewhere(&self) -> bool {
        self.engine.shared.is_some() && self.evicted.load(Ordering::Relaxed)
    }

    /// A permit for one more POST or GET.
    pub(super) fn admit(&self) -> Result<OwnedSemaphorePermit, Rejection> {
        let permit = self.permits.clone().try_acquire_owned();
        permit.map_err(|_| Rejection::busy("Too many requests are in flight in this session"))
    }

    /// Hands a body to the engine, with the HTTP request. The responses will come on the stream, if the body has requests.
    pub(super) async fn post(
        &self,
        body: PostBody,
        parts: Parts,
        content: Content,
    ) -> Result<Option<Arc<Stream>>, Rejection> {
        self.touch();
        let registered = self.register(&body, content)?;
        let mut registration = Registration {
            session: self,
            stream: registered.as_ref().map(|(number, _)| *number),
        };
        if !self.hand_over(body, Some(parts)).await {
            self.end();
            return Err(Rejection::no_such_session());
        }
        registration.stream = None;
        Ok(registered.map(|(_, stream)| stream))
    }

    /// Hands a body to the engine, with the HTTP request if it came to this instance; `false` if the session has ended.
    pub(super) async fn hand_over(&self, body: PostBody, parts: Option<Parts>) -> bool {
        self.mark_cancelled(&body.cancelled);
        let message = Outgoing {
            json: body.json,
            purpose: Purpose::Unsolicited,
        };
        let mut extensions = Extensions::new();
        if let Some(parts) = parts {
            extensions.insert(parts);
        }
        if let Some(principal) = self.principal.clone() {
            extensions.insert(Principal(principal));
        }
        tokio::select! {
            biased;
            () = self.ended.cancelled() => false,
            sent = self.to_engine.send_with_extensions(message, extensions) => sent.is_ok(),
        }
    }

    /// Whether the engine has a request in flight with this id.
    pub(super) fn has_request(&self, id: &RequestId) -> bool {
        self.requests.lock().requests.contains_key(id)
    }

    /// Opens a stream for the requests of a body, if it has any; gives the number of the stream.
    fn register(&self, body: &PostBody, content: Content) -> Result<Option<(u64, Arc<Stream>)>, Rejection> {
        if body.requests.is_empty() {
            return Ok(None);
        }
        let mut requests = self.requests.lock();
        // Under the lock, so that nobody who waits for the last response misses a request.
        if self.shutdown.is_cancelled() {
            return Err(Rejection::shutting_down());
        }
        let mut ids = HashSet::new();
        for id in &body.requests {
            if requests.requests.contains_key(id) || !ids.insert(id) {
                return Err(Rejection::bad_request(format!(
                    "A request with the id {id} is in flight"
                )));
            }
        }
        if requests.requests.len() + ids.len() > self.limits.max_in_flight {
            return Err(Rejection::busy("Too many requests are in flight in this session"));
        }
        let Some(charge) = self.memory.session.try_charge(body.json.len()) else {
            return Err(Rejection::busy(
                "The client has to read its answers before it asks for more",
            ));
        };
        let number = requests.last + 1;
        let stream = match self.kind {
            SessionKind::Legacy => self.standalone.clone(),
            SessionKind::Streamable | SessionKind::Stateless | SessionKind::JsonOnly => {
                self.engine
                    .stream(&self.id, number, content, self.memory.clone(), &body.requests)
            }
        };
        requests.last = number;
        let open = OpenStream {
            stream: stream.clone(),
            unanswered: body.requests.len(),
            _charges: (charge, body.charge.clone()),
        };
        requests.streams.insert(number, open);
        for id in &body.requests {
            let request = Request {
                stream: number,
                cancelled: false,
            };
            requests.requests.insert(id.clone(), request);
        }
        if body.initialize.is_some() && self.revision().is_none() {
            requests.initialize = body.requests.first().cloned();
        }
        Ok(Some((number, stream)))
    }

    /// The stream with this number, if it is still kept.
    pub(super) fn stream(&self, number: u64) -> Option<Arc<Stream>> {
        if number == 0 {
            return Some(self.standalone.clone());
        }
        let requests = self.requests.lock();
        let open = requests.streams.get(&number).map(|open| &open.stream);
        open.or_else(|| requests.finished.iter().find(|stream| stream.id == number))
            .cloned()
    }

    /// Puts a message of the engine on the stream where the client expects it, and waits until there is room.
    pub(super) async fn route(&self, message: Outgoing) {
        let json = Bytes::from(message.json);
        match message.purpose {
            Purpose::Response(ids) => self.respond(&ids, json).await,
            Purpose::RelatedTo(id) => {
                let stream = self.stream_of(&id);
                let stream = stream
                    .filter(|stream| stream.content == Content::Any)
                    .unwrap_or_else(|| self.standalone.clone());
                self.push(&stream, json).await;
            }
            Purpose::Unsolicited => self.push(&self.standalone, json).await,
        }
    }

    async fn push(&self, stream: &Stream, json: Bytes) {
        if self.kind.is_stateless() && stream.id == self.standalone.id {
            tracing::debug!("a message is dropped, since the response has no place for it");
        } else if stream.id != self.standalone.id || !self.pass_to_listener(&json).await {
            stream.push(json, &self.limits).await;
        }
    }

    fn stream_of(&self, id: &RequestId) -> Option<Arc<Stream>> {
        let requests = self.requests.lock();
        let number = requests.requests.get(id)?.stream;
        requests.streams.get(&number).map(|open| open.stream.clone())
    }

    async fn respond(&self, ids: &[RequestId], json: Bytes) {
        let Some(stream) = ids.iter().find_map(|id| self.stream_of(id)) else {
            tracing::warn!(?ids, "a response to a request that isn't in flight");
            return;
        };
        match self.is_legacy() {
            // All responses share one stream, and its reader has to keep up with them.
            true => stream.push(json.clone(), &self.limits).await,
            false => stream.push_response(ids, &json, &self.limits),
        }
        self.finish(ids, Some(&json));
    }

    /// The engine won't respond to these requests. Those that the client hasn't cancelled get an error response.
    pub(super) fn unanswered(&self, ids: &[RequestId]) {
        for id in ids {
            self.requests
                .lock()
                .refuse(id, "The request can't be answered", &self.limits);
        }
        self.finish(ids, None);
    }

    /// These requests are done.
    fn finish(&self, ids: &[RequestId], answer: Option<&Bytes>) {
        let mut requests = self.requests.lock();
        if requests.initialize.take_if(|id| ids.contains(id)).is_some() {
            match answer.and_then(|json| negotiated_revision(json)) {
                Some(revision) => self.set_phase(Phase::Negotiated(revision)),
                // In HTTP with SSE a client may try again on the same stream.
                None if self.is_legacy() => {}
                None => self.set_phase(Phase::Ended),
            }
        }
        for id in ids {
            let Some(request) = requests.requests.remove(id) else {
                continue;
            };
            let Some(open) = requests.streams.get_mut(&request.stream) else {
                continue;
            };
            open.unanswered -= 1;
            if open.unanswered > 0 {
                continue;
            }
            let Some(OpenStream { stream, .. }) = requests.streams.remove(&request.stream) else {
                continue;
            };
            if self.is_legacy() {
                continue;
            }
            // A stream that nobody has read yet can't be resumed.
            if stream.finish() {
                requests.keep(stream, self.limits.replay_bytes);
            }
        }
        self.request_done.notify_waiters();
    }

    /// Waits until no request is in flight.
    pub(super) async fn all_done(&self) {
        loop {
            let done = self.request_done.notified();
            if self.requests.lock().requests.is_empty() {
                return;
            }
            done.await;
        }
    }

    fn set_phase(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// Keeps a finished stream for a client that resumes it.
    pub(super) fn keep(&self, stream: Arc<Stream>) {
        self.requests.lock().keep(stream, self.limits.replay_bytes);
    }

    /// The client needs no response to these requests.
    fn mark_cancelled(&self, ids: &[RequestId]) {
        let mut requests = self.requests.lock();
        for id in ids {
            if let Some(request) = requests.requests.get_mut(id) {
                request.cancelled = true;
            }
        }
    }

    /// Closes all streams. The client can still read the buffered messages.
    pub(super) fn close_all(&self) {
        self.ended.cancel();
        self.set_phase(Phase::Ended);
        let mut requests = std::mem::take(&mut *self.requests.lock());
        let ids: Vec<RequestId> = requests.requests.keys().cloned().collect();
        for id in ids {
            requests.refuse(&id, "The session has ended", &self.limits);
        }
        for (_, open) in requests.streams.drain() {
            open.stream.finish();
        }
        self.standalone.finish();
        // The engine may hold this session for a while yet.
        self.standalone.clear_unread();
    }

    /// Closes the connection to the engine.
    pub(super) async fn close_engine(&self) {
        self.to_engine.close().await;
    }
}

/// The registration of requests; it is undone when this is dropped with a stream.
struct Registration<'a> {
    session: &'a HttpSession,
    stream: Option<u64>,
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        let Some(number) = self.stream else {
            return;
        };
        let mut requests = self.session.requests.lock();
        requests.requests.retain(|_, request| request.stream != number);
        requests.streams.remove(&number);
        self.session.request_done.notify_waiters();
    }
}
