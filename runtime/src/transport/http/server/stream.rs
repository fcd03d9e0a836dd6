//! A stream of messages to the client, which outlives the connections that it is read through.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use axum::body::Bytes;
use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::timeout;

use super::config::Limits;
use super::reader::{EventId, Opening, Reader};
use super::session::Session;

/// How many lines of a stream may be connected at once.
const MOST_LINES: usize = 8;

/// Messages in order, of which the latest are kept until they are sent, and for a client that asks for them again.
///
/// A client reads them through a line, and it may have several: then each message is sent on one of them only.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) id: u64,
    state: Mutex<State>,
    /// An event was sent, a connection has come or gone, or the stream is done.
    changed: Notify,
}

#[derive(Debug)]
struct State {
    events: VecDeque<Event>,
    bytes: usize,
    /// The number of the next event; the first is 1, so that 0 stands for the stream's beginning.
    next: u64,
    /// How many lines and how many connections there have been.
    lines: u64,
    connections: u64,
    /// The lines that are connected, the latest connection last: it gets what is new.
    connected: Vec<Line>,
    /// Nobody has read for too long to wait for them.
    deserted: bool,
    done: bool,
}

#[derive(Debug)]
struct Event {
    number: u64,
    json: Bytes,
    kept: bool,
    /// The line that it was sent on.
    line: Option<u64>,
}

/// What the client takes for one stream: it is read through one connection after another.
#[derive(Debug)]
struct Line {
    number: u64,
    connection: u64,
    /// The number of the last event that needn't be sent through this connection.
    after: u64,
    waker: Option<Waker>,
}

/// Why there is nothing to come back to.
#[derive(Debug)]
pub(super) enum Unresumable {
    NoSuchEvent,
    /// The client has everything.
    NothingLeft,
}

impl Stream {
    /// An empty stream. Nobody waits for the first reader of a stream that is `deserted` from the start.
    pub(super) fn new(id: u64, deserted: bool) -> Self {
        Self {
            id,
            state: Mutex::new(State {
                events: VecDeque::new(),
                bytes: 0,
                next: 1,
                lines: 0,
                connections: 0,
                connected: Vec::new(),
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
                self.state().give_up();
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

    /// Reads the stream through a new line: it gets what wasn't sent yet.
    pub(super) fn open(
        self: &Arc<Self>,
        session: &Arc<Session>,
        opening: Opening,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Reader {
        let mut state = self.state();
        state.lines += 1;
        let last = EventId {
            nonce: session.nonce,
            stream: self.id,
            event: state.last_sent(),
            line: state.lines,
        };
        self.connect(state, session, last, opening, permit)
    }

    /// Reads a line on from after the last event that the client has. Whoever has read it until now is taken for dead.
    pub(super) fn resume(
        self: &Arc<Self>,
        session: &Arc<Session>,
        last: EventId,
        opening: Opening,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Result<Reader, Unresumable> {
        let state = self.state();
        if last.event >= state.next || !(1..=state.lines).contains(&last.line) {
            return Err(Unresumable::NoSuchEvent);
        }
        // Were its line ended once more, the client would come back for it without end.
        if (state.done || state.is_full_without(last.line)) && !state.has_more(&last) {
            return Err(Unresumable::NothingLeft);
        }
        Ok(self.connect(state, session, last, opening, permit))
    }

    fn connect(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, State>,
        session: &Arc<Session>,
        last: EventId,
        opening: Opening,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Reader {
        let connection = state.connect(&last);
        drop(state);
        self.changed.notify_waiters();
        Reader::new(self.clone(), session.clone(), connection, last, opening, permit)
    }

    /// The next message for a connection, and its number; none once the stream is done or another connection has taken
    /// the place.
    pub(super) fn poll_next(&self, connection: u64, cx: &mut Context<'_>) -> Poll<Option<(u64, Bytes)>> {
        let next = self.state().send(connection, cx);
        if let Poll::Ready(Some(_)) = next {
            self.changed.notify_waiters();
        }
        next
    }

    pub(super) fn disconnect(&self, connection: u64) {
        self.state().cut(|line| line.connection == connection);
        self.changed.notify_waiters();
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
            if !self.connected.is_empty() || !self.deserted {
                return false;
            }
            while !self.has_room(json, limits) && self.forget_unsent() {}
        }
        self.bytes += json.len();
        let (number, json) = (self.next, json.clone());
        self.events.push_back(Event {
            number,
            json,
            kept,
            line: None,
        });
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

    /// Forgets the oldest event, unless somebody is about to read it.
    fn forget_sent(&mut self) -> bool {
        let awaited = |event: &Event, on: u64| {
            let mut lines = self.connected.iter();
            lines.any(|line| line.number == on && line.after < event.number)
        };
        let oldest = self.events.front();
        let sent = oldest.is_some_and(|event| event.line.is_some_and(|line| !awaited(event, line)));
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

    fn last_sent(&self) -> u64 {
        let unsent = self.events.iter().find(|event| event.line.is_none());
        unsent.map_or(self.next, |event| event.number) - 1
    }

    /// Whether there is something to send to a client that has this event.
    fn has_more(&self, last: &EventId) -> bool {
        let mut later = self.events.iter().filter(|event| event.number > last.event);
        later.any(|event| event.line.is_none_or(|line| line == last.line))
    }

    fn is_full_without(&self, line: u64) -> bool {
        self.connected.len() >= MOST_LINES && self.connected.iter().all(|other| other.number != line)
    }

    /// Connects a line, in the place of another connection to it or of the oldest one if there are too many.
    fn connect(&mut self, last: &EventId) -> u64 {
        self.cut(|line| line.number == last.line);
        if self.connected.len() >= MOST_LINES {
            self.connected.remove(0);
        }
        self.connections += 1;
        self.connected.push(Line {
            number: last.line,
            connection: self.connections,
            after: last.event,
            waker: None,
        });
        self.deserted = false;
        self.connections
    }

    fn send(&mut self, connection: u64, cx: &mut Context<'_>) -> Poll<Option<(u64, Bytes)>> {
        let latest = self.connected.last().map(|line| line.connection) == Some(connection);
        let Some(line) = self.connected.iter_mut().find(|line| line.connection == connection) else {
            return Poll::Ready(None);
        };
        let later = self.events.partition_point(|event| event.number <= line.after);
        let mut later = self.events.range_mut(later..);
        if let Some(event) = later.find(|event| event.line.map_or(latest, |sent| sent == line.number)) {
            event.line = Some(line.number);
            line.after = event.number;
            return Poll::Ready(Some((event.number, event.json.clone())));
        }
        if self.done {
            return Poll::Ready(None);
        }
        line.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Cuts the connection that has the oldest message to read.
    fn give_up(&mut self) {
        let sent = self.events.front().and_then(|event| event.line);
        let slow = sent.or(self.connected.last().map(|line| line.number));
        self.cut(|line| Some(line.number) == slow);
        self.deserted = self.connected.is_empty();
    }

    /// Takes away connections. The others are woken too, since one of them may now be the latest.
    fn cut(&mut self, gone: impl Fn(&Line) -> bool) {
        self.wake();
        self.connected.retain(|line| !gone(line));
    }

    fn wake(&mut self) {
        for line in &mut self.connected {
            if let Some(waker) = line.waker.take() {
                waker.wake();
            }
        }
    }
}
