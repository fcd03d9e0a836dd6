//! The buffered messages of a stream, and the connections that read them.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use mcp_adapters::mcp_wire::RequestId;

use super::super::limits::SessionLimits;
use super::super::memory::{MemoryBudgets, MemoryCharge};
use super::event_id::EventId;
use super::log::StreamLog;

/// The maximum number of client streams that are connected at once.
const MAX_CLIENT_STREAMS: usize = 8;

/// The messages of a stream, and the client streams that read them.
#[derive(Debug)]
pub(super) struct Buffer {
    events: VecDeque<Event>,
    bytes: usize,
    /// The number of the next event. The first is 1, so that 0 represents the beginning of the stream.
    next: u64,
    /// The numbers of client streams and of connections so far.
    client_streams: u64,
    connections: u64,
    /// The connected client streams, the latest connection last: it gets new messages.
    connected: Vec<ClientStream>,
    /// The client hasn't read for so long that senders no longer wait for it.
    abandoned: bool,
    done: bool,
    log: Option<StreamLog>,
    /// Events before this number may be sent. Events of a stream with a log have to be logged first.
    sendable: u64,
    /// The engine whose instance sends the events to the client, if it waits for an event.
    remote_reader: Option<u32>,
}

#[derive(Debug)]
struct Event {
    number: u64,
    json: Bytes,
    kept: bool,
    charge: MemoryCharge,
    /// The client stream on which it was sent.
    client_stream: Option<u64>,
}

/// A stream from the client's point of view, which it reads through successive connections.
#[derive(Debug)]
struct ClientStream {
    number: u64,
    connection: u64,
    /// The number of the last event that the client has.
    after: u64,
    waker: Option<Waker>,
}

impl Buffer {
    pub(super) fn new(abandoned: bool, log: Option<StreamLog>) -> Self {
        Self {
            events: VecDeque::new(),
            bytes: 0,
            next: 1,
            client_streams: 0,
            connections: 0,
            connected: Vec::new(),
            abandoned,
            done: false,
            log,
            sendable: u64::MAX,
            remote_reader: None,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Marks the end of the messages. Returns whether a client has read the stream, and so may resume it.
    pub(super) fn finish(&mut self) -> bool {
        if !self.done
            && let Some(log) = &mut self.log
        {
            let oldest = self.events.front().map_or(self.next, |event| event.number);
            log.end(self.next, oldest);
        }
        self.done = true;
        self.wake();
        self.client_streams > 0
    }

    /// Drops all messages, unless a client is reading them.
    pub(super) fn clear_unread(&mut self) {
        if self.connected.is_empty() {
            self.events.clear();
            self.bytes = 0;
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Adds a message; `false` if it has to wait, because the buffer is full and a client may still read it.
    pub(super) fn take(&mut self, json: &Bytes, kept: bool, limits: &SessionLimits, memory: &MemoryBudgets) -> bool {
        if self.done {
            return true;
        }
        while !self.has_room(json, limits) && self.forget_sent() {}
        if !kept && !self.has_room(json, limits) {
            if !self.connected.is_empty() || !self.abandoned {
                return false;
            }
            while !self.has_room(json, limits) && self.forget_unsent() {}
        }
        self.bytes += json.len();
        let number = self.next;
        self.events.push_back(Event {
            number,
            json: json.clone(),
            kept,
            charge: memory.charge(json.len()),
            client_stream: None,
        });
        self.next += 1;
        if let Some(log) = &mut self.log {
            log.event(number, json, self.events.front().map_or(number, |event| event.number));
        }
        self.wake();
        true
    }

    /// Announces that the next event is the response to these requests.
    pub(super) fn answered(&mut self, ids: &[RequestId]) {
        if let Some(log) = &mut self.log {
            log.answered(ids);
        }
    }

    /// Starts logging the existing and all further events, unless it has already started.
    pub(super) fn open_log(&mut self) {
        let Some(log) = &mut self.log else { return };
        if !log.open() {
            return;
        }
        self.sendable = 0;
        for event in &self.events {
            log.event(event.number, &event.json, 0);
        }
        if self.done {
            log.end(self.next, 0);
        }
    }

    /// Whether the log has started, but the store doesn't have it yet.
    pub(super) fn is_unshared(&self) -> bool {
        self.sendable == 0
    }

    /// Records that the events up to this number are logged. Returns the reader that waits for an event, if any.
    pub(super) fn logged(&mut self, number: u64) -> Option<u32> {
        self.sendable = self.sendable.max(number + 1);
        self.wake();
        self.remote_reader.take()
    }

    /// Records that another instance has sent the events before `next`. Returns whether later ones are logged;
    /// otherwise, that instance waits for an event.
    pub(super) fn read_elsewhere(&mut self, next: u64, reader: u32) -> bool {
        for event in self.events.iter_mut().filter(|event| event.number < next) {
            event.client_stream.get_or_insert(1);
        }
        let has_more = self.sendable > next;
        if !has_more {
            self.remote_reader = Some(reader);
        }
        has_more
    }

    /// Takes all messages when the stream is finished, if they are responses; `Ready(None)` as soon as one isn't.
    pub(super) fn take_responses(&mut self) -> Poll<Option<Vec<Bytes>>> {
        if !self.events.iter().all(|event| event.kept) {
            return Poll::Ready(None);
        }
        if !self.done {
            return Poll::Pending;
        }
        self.bytes = 0;
        let responses = self.events.drain(..).map(|event| event.charge.holding(event.json));
        Poll::Ready(Some(responses.collect()))
    }

    /// Takes the messages that the client hasn't received: those from the event `next` on or, without `next`, those
    /// that haven't been sent.
    pub(super) fn take_rest(&mut self, next: Option<u64>) -> Vec<Bytes> {
        let mut rest = Vec::new();
        self.events.retain(|event| {
            let is_rest = match next {
                Some(next) => event.number >= next,
                None => event.client_stream.is_none(),
            };
            if is_rest {
                rest.push(event.json.clone());
                self.bytes -= event.json.len();
            }
            !is_rest
        });
        rest
    }

    fn has_room(&self, json: &Bytes, limits: &SessionLimits) -> bool {
        // A single message may exceed the limit.
        self.events.is_empty()
            || self.events.len() < limits.replay_events && self.bytes.saturating_add(json.len()) <= limits.replay_bytes
    }

    /// Drops the oldest event if it was sent, unless a connected client still has to read it.
    fn forget_sent(&mut self) -> bool {
        let awaited = |event: &Event, on: u64| {
            let mut client_streams = self.connected.iter();
            client_streams.any(|client_stream| client_stream.number == on && client_stream.after < event.number)
        };
        let oldest = self.events.front();
        let sent = oldest.is_some_and(|event| {
            event
                .client_stream
                .is_some_and(|client_stream| !awaited(event, client_stream))
        });
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
            tracing::debug!(event = event.number, "an unread message is dropped");
        }
        event.is_some()
    }

    /// The number of the event after which a new client stream starts.
    pub(super) fn last_sent(&self) -> u64 {
        let unsent = self.events.iter().find(|event| event.client_stream.is_none());
        unsent.map_or(self.next, |event| event.number) - 1
    }

    /// Whether there are more events to send to a client that has this one.
    pub(super) fn has_more(&self, last: &EventId) -> bool {
        let mut later = self.events.iter().filter(|event| event.number > last.event);
        later.any(|event| {
            event
                .client_stream
                .is_none_or(|client_stream| client_stream == last.client_stream)
        })
    }

    /// Whether events after this one were sent and dropped, on any client stream.
    pub(super) fn has_forgotten_after(&self, last: &EventId) -> bool {
        self.events.front().map_or(self.next, |event| event.number) > last.event + 1
    }

    /// Whether this event was sent, or a client stream starts after it.
    pub(super) fn knows(&self, last: &EventId) -> bool {
        last.event < self.next && (1..=self.client_streams).contains(&last.client_stream)
    }

    /// Whether a client stream can only read the remaining events: the stream is finished, or too many others are
    /// connected.
    pub(super) fn ends(&self, client_stream: u64) -> bool {
        let is_connected = || self.connected.iter().any(|other| other.number == client_stream);
        self.done || self.connected.len() >= MAX_CLIENT_STREAMS && !is_connected()
    }

    /// The number of a new client stream.
    pub(super) fn new_client_stream(&mut self) -> u64 {
        self.client_streams += 1;
        self.client_streams
    }

    /// Connects a client stream. The connection replaces an earlier one of this client stream, or the oldest one if
    /// there are too many.
    pub(super) fn connect(&mut self, last: &EventId) -> u64 {
        self.cut(|client_stream| client_stream.number == last.client_stream);
        if self.connected.len() >= MAX_CLIENT_STREAMS {
            self.connected.remove(0);
        }
        self.connections += 1;
        self.connected.push(ClientStream {
            number: last.client_stream,
            connection: self.connections,
            after: last.event,
            waker: None,
        });
        self.abandoned = false;
        self.connections
    }

    /// The next message for a connection: one that was sent on its client stream, or a new one if it is the latest.
    pub(super) fn send(&mut self, connection: u64, cx: &mut Context<'_>) -> Poll<Option<(u64, Bytes)>> {
        let latest = self.connected.last().map(|client_stream| client_stream.connection) == Some(connection);
        let Some(client_stream) = self
            .connected
            .iter_mut()
            .find(|client_stream| client_stream.connection == connection)
        else {
            return Poll::Ready(None);
        };
        let later = self.events.partition_point(|event| event.number <= client_stream.after);
        let sendable = self.sendable;
        let mut later = self
            .events
            .range_mut(later..)
            .take_while(|event| event.number < sendable);
        if let Some(event) = later.find(|event| event.client_stream.map_or(latest, |sent| sent == client_stream.number))
        {
            event.client_stream = Some(client_stream.number);
            client_stream.after = event.number;
            return Poll::Ready(Some((event.number, event.json.clone())));
        }
        if self.done && self.next <= self.sendable {
            return Poll::Ready(None);
        }
        client_stream.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Closes the connection that has the oldest message to read.
    pub(super) fn give_up(&mut self) {
        let sent = self.events.front().and_then(|event| event.client_stream);
        let slow = sent.or(self.connected.last().map(|client_stream| client_stream.number));
        self.cut(|client_stream| Some(client_stream.number) == slow);
        self.abandoned = self.connected.is_empty();
    }

    pub(super) fn disconnect(&mut self, connection: u64) {
        self.cut(|client_stream| client_stream.connection == connection);
    }

    /// Closes connections. Wakes the others too, since one of them may now be the latest.
    fn cut(&mut self, gone: impl Fn(&ClientStream) -> bool) {
        self.wake();
        self.connected.retain(|client_stream| !gone(client_stream));
    }

    fn wake(&mut self) {
        for client_stream in &mut self.connected {
            if let Some(waker) = client_stream.waker.take() {
                waker.wake();
            }
        }
    }
}
