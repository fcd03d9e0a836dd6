//! What of a stream is kept, and who gets it.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use axum::body::Bytes;

use super::config::Limits;
use super::memory::{Held, Memory};
use super::reader::EventId;

/// How many lines may be connected at once.
const MOST_LINES: usize = 8;

/// The messages of a stream, and the lines that they are read through.
#[derive(Debug)]
pub(super) struct Buffer {
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
    _held: Held,
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

impl Buffer {
    pub(super) fn new(deserted: bool) -> Self {
        Self {
            events: VecDeque::new(),
            bytes: 0,
            next: 1,
            lines: 0,
            connections: 0,
            connected: Vec::new(),
            deserted,
            done: false,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// No more messages will come. Says whether somebody has read the stream, and may come back for the rest.
    pub(super) fn finish(&mut self) -> bool {
        self.done = true;
        self.wake();
        self.lines > 0
    }

    /// Forgets everything, unless somebody is about to read it.
    pub(super) fn clear_unread(&mut self) {
        if self.connected.is_empty() {
            self.events.clear();
            self.bytes = 0;
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Takes a message in, if there is room or nobody to wait for.
    pub(super) fn take(&mut self, json: &Bytes, kept: bool, limits: &Limits, memory: &Memory) -> bool {
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
        let (number, json_bytes, json) = (self.next, json.len(), json.clone());
        self.events.push_back(Event {
            number,
            json,
            kept,
            _held: memory.hold(json_bytes),
            line: None,
        });
        self.next += 1;
        self.wake();
        true
    }

    /// All messages once there will be no more, if they are answers; `None` inside if another one is among them.
    pub(super) fn take_answers(&mut self) -> Poll<Option<Vec<Bytes>>> {
        if !self.events.iter().all(|event| event.kept) {
            return Poll::Ready(None);
        }
        if !self.done {
            return Poll::Pending;
        }
        self.bytes = 0;
        Poll::Ready(Some(self.events.drain(..).map(|event| event.json).collect()))
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

    /// The number of the event after which a new line begins.
    pub(super) fn last_sent(&self) -> u64 {
        let unsent = self.events.iter().find(|event| event.line.is_none());
        unsent.map_or(self.next, |event| event.number) - 1
    }

    /// Whether there is something to send to a client that has this event.
    pub(super) fn has_more(&self, last: &EventId) -> bool {
        let mut later = self.events.iter().filter(|event| event.number > last.event);
        later.any(|event| event.line.is_none_or(|line| line == last.line))
    }

    /// Whether events after this one were sent and forgotten, on whichever line.
    pub(super) fn has_forgotten_after(&self, last: &EventId) -> bool {
        self.events.front().map_or(self.next, |event| event.number) > last.event + 1
    }

    /// Whether this was sent, or a line begins after it.
    pub(super) fn knows(&self, last: &EventId) -> bool {
        last.event < self.next && (1..=self.lines).contains(&last.line)
    }

    /// Whether there is no place for a line but to read what is left.
    pub(super) fn ends(&self, line: u64) -> bool {
        let is_connected = || self.connected.iter().any(|other| other.number == line);
        self.done || self.connected.len() >= MOST_LINES && !is_connected()
    }

    /// The number of one more line.
    pub(super) fn new_line(&mut self) -> u64 {
        self.lines += 1;
        self.lines
    }

    /// Connects a line, in the place of another connection to it or of the oldest one if there are too many.
    pub(super) fn connect(&mut self, last: &EventId) -> u64 {
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

    /// The next message for a connection: one that was sent on its line, or a new one if it is the latest.
    pub(super) fn send(&mut self, connection: u64, cx: &mut Context<'_>) -> Poll<Option<(u64, Bytes)>> {
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
    pub(super) fn give_up(&mut self) {
        let sent = self.events.front().and_then(|event| event.line);
        let slow = sent.or(self.connected.last().map(|line| line.number));
        self.cut(|line| Some(line.number) == slow);
        self.deserted = self.connected.is_empty();
    }

    pub(super) fn disconnect(&mut self, connection: u64) {
        self.cut(|line| line.connection == connection);
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
