//! A session: its engine on one side, the streams to its client on the other.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Bytes;
use axum::http::Extensions;
use axum::http::request::Parts;
use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{ErrorObject, ErrorResponse, RequestId, error_code};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use super::config::Limits;
use super::memory::Memory;
use super::message::{Posted, agreed_revision};
use super::refusal::Refusal;
use super::stream::{Content, Stream};
use crate::budget::{Budget, Charge};
use crate::message::{Outgoing, Purpose, Sender as _};
use crate::sync::Mutex;
use crate::transport::ChannelSender;

/// How many streams that are done are kept for clients whose connection was cut at the end.
const FINISHED_STREAMS: usize = 64;

/// Which ways to the client a session has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A stream for each POST, and one for everything else.
    Streams,
    /// One JSON value for one POST, and nothing else.
    Once,
    /// One stream for everything, in the older transport.
    Legacy,
}

/// How far a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// `initialize` isn't answered.
    Starting,
    /// This revision was agreed upon.
    Agreed(Revision),
    /// There was no agreement, or the session has ended.
    Ended,
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) kind: Kind,
    /// Whose session it is; requests by anybody else don't find it.
    pub(super) principal: Option<String>,
    /// Tells this session's events from those of the same session on another machine.
    pub(super) nonce: u32,
    pub(super) limits: Limits,
    /// What the server says of its own accord.
    pub(super) own: Arc<Stream>,
    pub(super) ended: CancellationToken,
    /// Once the server shuts down, no request is taken any more.
    pub(super) shutdown: CancellationToken,
    to_engine: ChannelSender,
    phase: watch::Sender<Phase>,
    table: Mutex<Table>,
    /// A request is no longer in flight.
    closed: Notify,
    began: Instant,
    used: Mutex<Instant>,
    /// The client has said something after `initialize`.
    confirmed: AtomicBool,
    /// Is done once the session takes no room any more.
    pub(super) gone: CancellationToken,
    pub(super) memory: Memory,
    room: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Table {
    /// The last stream that was opened; 0 is the session's own.
    last: u64,
    requests: HashMap<RequestId, Request>,
    streams: HashMap<u64, Open>,
    finished: VecDeque<Arc<Stream>>,
    initialize: Option<RequestId>,
}

#[derive(Debug)]
struct Request {
    stream: u64,
    cancelled: bool,
}

/// A stream, and how many of its requests are unanswered.
#[derive(Debug)]
struct Open {
    stream: Arc<Stream>,
    unanswered: usize,
    /// What the requests take of the session's memory, and of the server's.
    _held: (Charge, Option<Arc<Charge>>),
}

impl Session {
    pub(super) fn new(
        id: String,
        kind: Kind,
        principal: Option<String>,
        limits: Limits,
        server: Arc<Budget>,
        to_engine: ChannelSender,
        shutdown: CancellationToken,
    ) -> Result<Arc<Self>, getrandom::Error> {
        let mut nonce = [0; 4];
        getrandom::fill(&mut nonce)?;
        let memory = Memory {
            session: Budget::new(limits.session_bytes),
            server,
        };
        Ok(Arc::new(Self {
            id,
            kind,
            principal,
            nonce: u32::from_be_bytes(nonce),
            own: Arc::new(Stream::new(0, Content::Any, memory.clone(), true)),
            ended: CancellationToken::new(),
            shutdown,
            to_engine,
            phase: watch::Sender::new(Phase::Starting),
            table: Mutex::default(),
            closed: Notify::new(),
            memory,
            confirmed: AtomicBool::new(false),
            gone: CancellationToken::new(),
            began: Instant::now(),
            used: Mutex::new(Instant::now()),
            room: Arc::new(Semaphore::new(limits.max_in_flight)),
            limits,
        }))
    }

    pub(super) fn is_legacy(&self) -> bool {
        self.kind == Kind::Legacy
    }

    /// The client uses the session that it has begun.
    pub(super) fn confirm(&self) {
        self.confirmed.store(true, Ordering::Relaxed);
        self.touch();
    }

    /// Whether the client has used the session since it began.
    pub(super) fn is_confirmed(&self) -> bool {
        self.confirmed.load(Ordering::Relaxed)
    }

    /// Whether nothing is in flight and no stream is read.
    pub(super) fn is_idle(&self) -> bool {
        !self.is_legacy()
            && self.room.available_permits() >= self.limits.max_in_flight
            && self.table.lock().requests.is_empty()
    }

    /// When the session ends unless its client is heard of.
    pub(super) fn expires(&self, opening: Duration, expiry: Duration) -> Instant {
        match self.is_confirmed() {
            true => self.used() + expiry,
            false => self.began + opening,
        }
    }

    /// The client is there.
    pub(super) fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    /// When the client was there.
    pub(super) fn used(&self) -> Instant {
        *self.used.lock()
    }

    /// The revision that was agreed upon.
    pub(super) fn revision(&self) -> Option<Revision> {
        match *self.phase.borrow() {
            Phase::Agreed(revision) => Some(revision),
            Phase::Starting | Phase::Ended => None,
        }
    }

    /// Waits until `initialize` is answered.
    pub(super) async fn agreed(&self) -> Option<Revision> {
        let mut phase = self.phase.subscribe();
        let _ = phase.wait_for(|phase| *phase != Phase::Starting).await;
        self.revision()
    }

    /// Ends the session; its engine is told.
    pub(super) fn end(&self) {
        self.ended.cancel();
    }

    /// Room for one more POST, until the permit is dropped.
    pub(super) fn admit(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        let room = self.room.clone().try_acquire_owned();
        room.map_err(|_| Refusal::busy("Too many requests are in flight in this session"))
    }

    /// Hands what was posted to the engine, with the request that carried it. The stream is where the answers will be, if
    /// there are requests.
    pub(super) async fn post(
        &self,
        posted: Posted,
        parts: Parts,
        content: Content,
    ) -> Result<Option<Arc<Stream>>, Refusal> {
        self.touch();
        let registered = self.register(&posted, content)?;
        self.expect_no_answer(&posted.cancelled);
        let mut unsent = Unsent {
            session: self,
            stream: registered.as_ref().map(|(number, _)| *number),
        };
        let message = Outgoing {
            json: posted.json,
            purpose: Purpose::Unsolicited,
        };
        let mut extensions = Extensions::new();
        extensions.insert(parts);
        let sent = tokio::select! {
            biased;
            () = self.ended.cancelled() => false,
            sent = self.to_engine.send_with_extensions(message, extensions) => sent.is_ok(),
        };
        if !sent {
            self.end();
            return Err(Refusal::no_such_session());
        }
        unsent.stream = None;
        Ok(registered.map(|(_, stream)| stream))
    }

    /// Opens a stream for what was posted, if it holds requests, and says which number it has.
    fn register(&self, posted: &Posted, content: Content) -> Result<Option<(u64, Arc<Stream>)>, Refusal> {
        if posted.requests.is_empty() {
            return Ok(None);
        }
        let mut table = self.table.lock();
        // Under the lock, so that whoever waits for the last answer misses no request.
        if self.shutdown.is_cancelled() {
            return Err(Refusal::shutting_down());
        }
        let mut ids = HashSet::new();
        for id in &posted.requests {
            if table.requests.contains_key(id) || !ids.insert(id) {
                return Err(Refusal::bad_request(format!("A request with the id {id} is in flight")));
            }
        }
        if table.requests.len() + ids.len() > self.limits.max_in_flight {
            return Err(Refusal::busy("Too many requests are in flight in this session"));
        }
        let Some(held) = self.memory.session.try_charge(posted.json.len()) else {
            return Err(Refusal::busy(
                "The client has to read its answers before it asks for more",
            ));
        };
        let number = table.last + 1;
        let stream = match self.kind {
            Kind::Legacy => self.own.clone(),
            Kind::Streams | Kind::Once => Arc::new(Stream::new(number, content, self.memory.clone(), false)),
        };
        table.last = number;
        let open = Open {
            stream: stream.clone(),
            unanswered: posted.requests.len(),
            _held: (held, posted.held.clone()),
        };
        table.streams.insert(number, open);
        for id in &posted.requests {
            let request = Request {
                stream: number,
                cancelled: false,
            };
            table.requests.insert(id.clone(), request);
        }
        if posted.initialize.is_some() && self.revision().is_none() {
            table.initialize = posted.requests.first().cloned();
        }
        Ok(Some((number, stream)))
    }

    /// The stream with this number, unless it is long done.
    pub(super) fn stream(&self, number: u64) -> Option<Arc<Stream>> {
        if number == 0 {
            return Some(self.own.clone());
        }
        let table = self.table.lock();
        let open = table.streams.get(&number).map(|open| &open.stream);
        open.or_else(|| table.finished.iter().find(|stream| stream.id == number))
            .cloned()
    }

    /// Takes what the engine says to where the client hears it, and waits until there is room.
    pub(super) async fn route(&self, message: Outgoing) {
        let json = Bytes::from(message.json);
        match message.purpose {
            Purpose::Response(ids) => self.answer(&ids, json).await,
            Purpose::RelatedTo(id) => {
                let stream = self.stream_of(&id);
                let stream = stream
                    .filter(|stream| stream.content == Content::Any)
                    .unwrap_or_else(|| self.own.clone());
                self.push(&stream, json).await;
            }
            Purpose::Unsolicited => self.push(&self.own, json).await,
        }
    }

    async fn push(&self, stream: &Stream, json: Bytes) {
        if self.kind == Kind::Once {
            tracing::debug!("without a session there is no way to the client but the answer");
        } else {
            stream.push(json, false, &self.limits).await;
        }
    }

    fn stream_of(&self, id: &RequestId) -> Option<Arc<Stream>> {
        let table = self.table.lock();
        let number = table.requests.get(id)?.stream;
        table.streams.get(&number).map(|open| open.stream.clone())
    }

    async fn answer(&self, ids: &[RequestId], json: Bytes) {
        let Some(stream) = ids.iter().find_map(|id| self.stream_of(id)) else {
            tracing::warn!(?ids, "an answer to a request that isn't in flight");
            return;
        };
        // Where all answers share one stream, its reader has to keep up with them.
        stream.push(json.clone(), !self.is_legacy(), &self.limits).await;
        self.close(ids, Some(&json));
    }

    /// The engine won't answer these requests. Those that the client hasn't cancelled get an error.
    pub(super) fn unanswered(&self, ids: &[RequestId]) {
        for id in ids {
            self.table
                .lock()
                .refuse(id, "The request can't be answered", &self.limits);
        }
        self.close(ids, None);
    }

    /// Nothing more will be said about these requests.
    fn close(&self, ids: &[RequestId], answer: Option<&Bytes>) {
        let mut table = self.table.lock();
        if table.initialize.take_if(|id| ids.contains(id)).is_some() {
            match answer.and_then(|json| agreed_revision(json)) {
                Some(revision) => self.set_phase(Phase::Agreed(revision)),
                // In the older transport a client may try again on the same stream.
                None if self.is_legacy() => {}
                None => self.set_phase(Phase::Ended),
            }
        }
        for id in ids {
            let Some(request) = table.requests.remove(id) else {
                continue;
            };
            let Some(open) = table.streams.get_mut(&request.stream) else {
                continue;
            };
            open.unanswered -= 1;
            if open.unanswered > 0 {
                continue;
            }
            let Some(Open { stream, .. }) = table.streams.remove(&request.stream) else {
                continue;
            };
            if self.is_legacy() {
                continue;
            }
            // Of a stream that nobody has read yet, no client has an event to come back to.
            if stream.finish() {
                table.keep(stream, self.limits.replay_bytes);
            }
        }
        self.closed.notify_waiters();
    }

    /// Waits until no request is in flight.
    pub(super) async fn all_answered(&self) {
        loop {
            let closed = self.closed.notified();
            if self.table.lock().requests.is_empty() {
                return;
            }
            closed.await;
        }
    }

    fn set_phase(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// Keeps a stream that is done for clients whose connection is cut while they read it.
    pub(super) fn keep(&self, stream: Arc<Stream>) {
        self.table.lock().keep(stream, self.limits.replay_bytes);
    }

    /// These requests need no answer.
    fn expect_no_answer(&self, ids: &[RequestId]) {
        let mut table = self.table.lock();
        for id in ids {
            if let Some(request) = table.requests.get_mut(id) {
                request.cancelled = true;
            }
        }
    }

    /// The session is over: what is buffered can still be read, and nothing follows but that.
    pub(super) fn close_all(&self) {
        self.ended.cancel();
        self.set_phase(Phase::Ended);
        let mut table = std::mem::take(&mut *self.table.lock());
        let ids: Vec<RequestId> = table.requests.keys().cloned().collect();
        for id in ids {
            table.refuse(&id, "The session has ended", &self.limits);
        }
        for (_, open) in table.streams.drain() {
            open.stream.finish();
        }
        self.own.finish();
        // The engine may have this session for a while yet.
        self.own.clear_unread();
    }

    /// Tells the engine that the client is gone.
    pub(super) async fn hang_up(&self) {
        self.to_engine.close().await;
    }
}

impl Table {
    /// Answers a request with an error, unless its client has cancelled it.
    fn refuse(&self, id: &RequestId, why: &str, limits: &Limits) {
        if let Some(request) = self.requests.get(id)
            && !request.cancelled
            && let Some(open) = self.streams.get(&request.stream)
        {
            let error = ErrorObject::new(error_code::INTERNAL_ERROR, why);
            let json = serde_json::to_vec(&ErrorResponse::new(Some(id.clone()), error)).unwrap_or_default();
            open.stream.answer(json.into(), limits);
        }
    }

    fn keep(&mut self, stream: Arc<Stream>, most: usize) {
        self.finished.push_back(stream);
        let mut bytes: usize = self.finished.iter().map(|stream| stream.bytes()).sum();
        while self.finished.len() > FINISHED_STREAMS || (bytes > most && self.finished.len() > 1) {
            let oldest = self.finished.pop_front();
            bytes -= oldest.map_or(0, |stream| stream.bytes());
        }
    }
}

/// Requests that the engine is about to get; if it doesn't, they are forgotten.
struct Unsent<'a> {
    session: &'a Session,
    stream: Option<u64>,
}

impl Drop for Unsent<'_> {
    fn drop(&mut self) {
        let Some(number) = self.stream else {
            return;
        };
        let mut table = self.session.table.lock();
        table.requests.retain(|_, request| request.stream != number);
        table.streams.remove(&number);
        self.session.closed.notify_waiters();
    }
}
