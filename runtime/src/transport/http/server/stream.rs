//! A stream of events to the client, which outlives the connections that it is read through.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use axum::body::Bytes;
use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::{Sleep, timeout};

use super::config::Limits;
use super::session::Session;

/// Messages in order, of which the latest are kept until a connection has read them, and for one that reads them again.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) id: u64,
    state: Mutex<State>,
    /// An event was sent, the reader is gone, or the stream is done.
    changed: Notify,
}

#[derive(Debug)]
struct State {
    events: VecDeque<Event>,
    bytes: usize,
    /// The number of the next event; the first is 1, so that 0 stands for the stream's beginning.
    next: u64,
    /// The number of the first event that no connection has been given.
    unsent: u64,
    /// The connection that reads, by number.
    reader: Option<u64>,
    readers: u64,
    waker: Option<Waker>,
    /// Nobody has read for too long to wait for them.
    deserted: bool,
    done: bool,
}

#[derive(Debug)]
struct Event {
    number: u64,
    json: Bytes,
    kept: bool,
}

/// The events that a client asks for aren't this stream's.
#[derive(Debug)]
pub(super) struct NoSuchEvent;

impl Stream {
    /// An empty stream. Nobody waits for the first reader of a stream that is `deserted` from the start.
    pub(super) fn new(id: u64, deserted: bool) -> Self {
        Self {
            id,
            state: Mutex::new(State {
                events: VecDeque::new(),
                bytes: 0,
                next: 1,
                unsent: 1,
                reader: None,
                readers: 0,
                waker: None,
                deserted,
                done: false,
            }),
            changed: Notify::new(),
        }
    }

    /// Nothing panics while the lock is held, so it is never poisoned.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message, and waits while there is no room for it. One that is `kept` has room always, and never makes way.
    pub(super) async fn push(&self, json: Bytes, kept: bool, limits: &Limits) {
        loop {
            let changed = self.changed.notified();
            if self.state().take(&json, kept, limits) {
                return;
            }
            if timeout(limits.stall, changed).await.is_err() {
                tracing::warn!(stream = self.id, "a client reads nothing, and its buffer is full");
                let mut state = self.state();
                state.deserted = true;
                state.reader = None;
                state.wake();
            }
        }
    }

    /// No more messages will come. Those that are there can still be read.
    pub(super) fn finish(&self) {
        let mut state = self.state();
        state.done = true;
        state.wake();
        drop(state);
        self.changed.notify_waiters();
    }

    /// How many bytes of messages are kept.
    pub(super) fn bytes(&self) -> usize {
        self.state().bytes
    }

    /// Waits until the stream is done, and takes the messages that had to be kept.
    pub(super) async fn answers(&self) -> Vec<Bytes> {
        loop {
            let changed = self.changed.notified();
            if let Some(events) = self.state().take_done() {
                let answers = events.into_iter().filter(|event| event.kept);
                return answers.map(|event| event.json).collect();
            }
            changed.await;
        }
    }

    /// Reads the stream through a new connection, from after the event `after` if the client names one. Whoever has read
    /// it until now is taken for dead.
    pub(super) fn attach(
        self: &Arc<Self>,
        session: &Arc<Session>,
        after: Option<u64>,
        opening: Opening,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Result<Reader, NoSuchEvent> {
        let mut state = self.state();
        if let Some(after) = after {
            if after >= state.next {
                return Err(NoSuchEvent);
            }
            state.unsent = after + 1;
            let oldest = state.events.front().map_or(state.next, |event| event.number);
            if oldest > state.unsent {
                tracing::warn!(
                    stream = self.id,
                    "a client comes back for events that are no longer kept"
                );
            }
            while state.forget_sent() {}
        }
        state.readers += 1;
        state.reader = Some(state.readers);
        state.deserted = false;
        state.wake();
        let (reader, position) = (state.readers, state.unsent - 1);
        drop(state);
        self.changed.notify_waiters();
        let retry = session.limits.retry.as_millis();
        let first = match opening {
            // Some clients take an empty event for a broken message; a field alone is none.
            Opening::Quiet => format!("retry: {retry}\n"),
            Opening::Primed => {
                let (nonce, stream) = (session.nonce, self.id);
                format!("id: {nonce:x}-{stream}-{position}-{reader}\nretry: {retry}\ndata:\n\n")
            }
            Opening::Endpoint(uri) => format!("event: endpoint\ndata: {uri}\n\n"),
        };
        Ok(Reader {
            stream: self.clone(),
            session: session.clone(),
            number: reader,
            first: Some(first.into()),
            numbered: !session.is_legacy(),
            keep_alive: Box::pin(tokio::time::sleep(session.limits.keep_alive)),
            _permit: permit,
        })
    }
}

impl State {
    /// Takes a message in, if there is room or nobody to wait for.
    fn take(&mut self, json: &Bytes, kept: bool, limits: &Limits) -> bool {
        if self.done {
            return true;
        }
        while !self.has_room(json, limits) && self.forget_sent() {}
        if !kept && !self.has_room(json, limits) {
            if self.reader.is_some() || !self.deserted {
                return false;
            }
            while !self.has_room(json, limits) && self.forget_unsent() {}
        }
        self.bytes += json.len();
        let (number, json) = (self.next, json.clone());
        self.events.push_back(Event { number, json, kept });
        self.next += 1;
        self.wake();
        true
    }

    fn take_done(&mut self) -> Option<VecDeque<Event>> {
        self.done.then(|| std::mem::take(&mut self.events))
    }

    fn has_room(&self, json: &Bytes, limits: &Limits) -> bool {
        // A message that is longer than all that is kept gets through alone.
        self.events.is_empty()
            || self.events.len() < limits.replay_events && self.bytes.saturating_add(json.len()) <= limits.replay_bytes
    }

    fn forget_sent(&mut self) -> bool {
        let sent = self.events.front().is_some_and(|event| event.number < self.unsent);
        if sent && let Some(event) = self.events.pop_front() {
            self.bytes -= event.json.len();
        }
        sent
    }

    fn forget_unsent(&mut self) -> bool {
        let oldest = self.events.iter().position(|event| !event.kept);
        let event = oldest.and_then(|at| self.events.remove(at));
        if let Some(event) = &event {
            self.bytes -= event.json.len();
            tracing::debug!(event = event.number, "a message is lost that nobody came for");
        }
        event.is_some()
    }

    fn send(&mut self) -> Option<(u64, Bytes)> {
        let at = self.events.partition_point(|event| event.number < self.unsent);
        let event = self.events.get(at)?;
        self.unsent = event.number + 1;
        Some((event.number, event.json.clone()))
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// What a connection begins with.
#[derive(Debug)]
pub(super) enum Opening {
    /// When to reconnect, and nothing else.
    Quiet,
    /// An event without data, for the client to come back to.
    Primed,
    /// Where to post to, in the older transport.
    Endpoint(String),
}

/// A connection that a stream is read through: the body of a response.
#[derive(Debug)]
pub(super) struct Reader {
    stream: Arc<Stream>,
    session: Arc<Session>,
    number: u64,
    first: Option<Bytes>,
    numbered: bool,
    keep_alive: Pin<Box<Sleep>>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl futures_core::Stream for Reader {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let reader = &mut *self;
        if let Some(first) = reader.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        let mut state = reader.stream.state();
        if state.reader != Some(reader.number) {
            return Poll::Ready(None);
        }
        let interval = reader.session.limits.keep_alive;
        if let Some((number, json)) = state.send() {
            drop(state);
            reader.stream.changed.notify_waiters();
            reader.session.touch();
            reader.keep_alive.as_mut().reset(tokio::time::Instant::now() + interval);
            let id = reader
                .numbered
                .then(|| format!("{:x}-{}-{number}", reader.session.nonce, reader.stream.id));
            return Poll::Ready(Some(Ok(event(id.as_deref(), &json))));
        }
        if state.done {
            return Poll::Ready(None);
        }
        state.waker = Some(cx.waker().clone());
        drop(state);
        if reader.keep_alive.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        reader.keep_alive.as_mut().reset(tokio::time::Instant::now() + interval);
        reader.session.touch();
        // Without an empty line after it: some clients would take that for the end of an event without data.
        Poll::Ready(Some(Ok(Bytes::from_static(b":\n"))))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.stream.state();
        if state.reader == Some(self.number) {
            (state.reader, state.waker) = (None, None);
        }
        drop(state);
        self.stream.changed.notify_waiters();
        if self.session.is_legacy() {
            self.session.end();
        }
    }
}

fn event(id: Option<&str>, json: &[u8]) -> Bytes {
    let mut event = Vec::with_capacity(json.len() + 48);
    event.extend_from_slice(b"event: message\n");
    if let Some(id) = id {
        event.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    event.extend_from_slice(b"data: ");
    // A line break in JSON is white space, and in an event the end of a field.
    event.extend(
        json.iter()
            .map(|&byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }),
    );
    event.extend_from_slice(b"\n\n");
    event.into()
}

/// What `Last-Event-ID` says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) nonce: u32,
    pub(super) stream: u64,
    pub(super) event: u64,
}

impl EventId {
    pub(super) fn parse(id: &str) -> Option<Self> {
        let mut parts = id.split('-');
        Some(Self {
            nonce: u32::from_str_radix(parts.next()?, 16).ok()?,
            stream: parts.next()?.parse().ok()?,
            event: parts.next()?.parse().ok()?,
        })
    }
}
