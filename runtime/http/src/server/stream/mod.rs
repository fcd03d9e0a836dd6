//! Streams of messages to the client, which outlive their connections.

mod buffer;
mod event_id;
mod log;

use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use bytes::Bytes;
use mcp_adapters::mcp_wire::RequestId;
use mcp_runtime_util::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

pub(crate) use self::event_id::EventId;
pub(crate) use self::log::LogQueue;

use self::buffer::Buffer;
use self::log::{Logged, StreamLog};
use super::limits::SessionLimits;
use super::memory::MemoryBudgets;
use super::store::LogId;

/// A stream of messages in order. The latest are kept until they are sent, and for a client that resumes the stream.
///
/// A client can read it through several client streams. Then each message is sent on only one of them.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) id: u64,
    pub(crate) content: Content,
    memory: MemoryBudgets,
    buffer: Mutex<Buffer>,
    /// Notified when an event was sent or logged, a connection was opened or closed, or the stream is finished.
    changed: Notify,
}

/// The number of the stream for messages that are related to no request.
pub(crate) const STANDALONE: u64 = 0;

/// The kinds of messages that a stream takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Any,
    /// Only responses, which are sent as one JSON value.
    Responses,
}

/// The reason why a stream can't be resumed.
#[derive(Debug)]
pub(crate) enum ResumeError {
    NoSuchEvent,
    /// The client already has all events.
    NothingLeft,
}

impl Stream {
    /// Creates an empty stream. If it is `abandoned` from the start, senders don't wait for its first reader.
    pub(crate) fn new(id: u64, content: Content, memory: MemoryBudgets, abandoned: bool) -> Self {
        Self {
            id,
            content,
            memory,
            buffer: Mutex::new(Buffer::new(abandoned, None)),
            changed: Notify::new(),
        }
    }

    /// Creates an empty stream of the responses to these requests, which is logged.
    pub(crate) fn logged_by(
        queue: LogQueue,
        log: LogId,
        memory: MemoryBudgets,
        requests: &[RequestId],
        abandoned: bool,
    ) -> Arc<Self> {
        Arc::new_cyclic(|stream: &Weak<Self>| {
            let id = log.stream;
            let log = StreamLog::new(log, queue, stream.clone(), requests.to_vec());
            Self {
                id,
                content: Content::Any,
                memory,
                buffer: Mutex::new(Buffer::new(abandoned, Some(log))),
                changed: Notify::new(),
            }
        })
    }

    /// Adds a message, and waits while the buffer is full.
    pub(crate) async fn push(&self, json: Bytes, limits: &SessionLimits) {
        loop {
            let changed = self.changed.notified();
            if self.buffer.lock().take(&json, false, limits, &self.memory) {
                return;
            }
            if timeout(limits.stall_timeout, changed).await.is_err() {
                tracing::warn!(stream = self.id, "a client reads nothing, and its buffer is full");
                self.buffer.lock().give_up();
            }
        }
    }

    /// Adds the response to these requests, even beyond the limits. It is never dropped.
    pub(crate) fn push_response(&self, ids: &[RequestId], json: &Bytes, limits: &SessionLimits) {
        let mut buffer = self.buffer.lock();
        buffer.answered(ids);
        buffer.take(json, true, limits, &self.memory);
        drop(buffer);
        self.changed.notify_waiters();
    }

    /// Records that the instance with another engine sends the events to the client, which has those before `next`.
    /// Returns whether there are more; otherwise, that instance waits for one.
    pub(crate) fn read_elsewhere(&self, next: u64, reader: u32) -> bool {
        let has_more = self.buffer.lock().read_elsewhere(next, reader);
        self.changed.notify_waiters();
        has_more
    }

    /// Takes the messages that the client hasn't received: those from the event `next` on or, without `next`, those
    /// that haven't been sent.
    pub(crate) fn take_rest(&self, next: Option<u64>) -> Vec<Bytes> {
        let rest = self.buffer.lock().take_rest(next);
        self.changed.notify_waiters();
        rest
    }

    /// Waits until other instances can find the stream, if they share it.
    pub(crate) async fn is_shared(&self) {
        loop {
            let changed = self.changed.notified();
            if !self.buffer.lock().is_unshared() {
                return;
            }
            changed.await;
        }
    }

    /// Marks the end of the messages; the client can still read the buffered ones. Returns whether a client has read
    /// the stream, and so may resume it.
    pub(crate) fn finish(&self) -> bool {
        let was_read = self.buffer.lock().finish();
        self.changed.notify_waiters();
        was_read
    }

    /// Drops all messages, unless a client is reading them.
    pub(crate) fn clear_unread(&self) {
        self.buffer.lock().clear_unread();
    }

    /// The bytes of the messages that are kept.
    pub(crate) fn bytes(&self) -> usize {
        self.buffer.lock().bytes()
    }

    /// Waits until the stream is finished, and takes its messages; `None` as soon as one of them isn't a response.
    pub(crate) async fn responses(&self) -> Option<Vec<Bytes>> {
        loop {
            let changed = self.changed.notified();
            if let Poll::Ready(responses) = self.buffer.lock().take_responses() {
                return responses;
            }
            changed.await;
        }
    }

    /// Connects a new client stream, which gets the messages that haven't been sent yet. Returns the id of the event
    /// before them, the number of the connection, and whether the stream was finished before it was first read.
    pub(crate) fn connect(&self, engine: u32) -> (EventId, u64, bool) {
        let mut buffer = self.buffer.lock();
        buffer.open_log();
        let last = EventId {
            engine,
            stream: self.id,
            event: buffer.last_sent(),
            client_stream: buffer.new_client_stream(),
        };
        let was_finished = buffer.is_done() && last.client_stream == 1;
        let connection = buffer.connect(&last);
        drop(buffer);
        self.changed.notify_waiters();
        (last, connection, was_finished)
    }

    /// Reconnects a client stream after the last event that the client has, and returns the number of the connection.
    /// The client stream's previous connection is considered dead.
    pub(crate) fn reconnect(&self, last: &EventId) -> Result<u64, ResumeError> {
        let mut buffer = self.buffer.lock();
        if !buffer.knows(last) {
            return Err(ResumeError::NoSuchEvent);
        }
        // If it ended again without an event, the client would reconnect endlessly.
        if buffer.ends(last.client_stream) && !buffer.has_more(last) {
            return Err(ResumeError::NothingLeft);
        }
        if buffer.has_forgotten_after(last) {
            tracing::warn!(%last, "a client resumes after an event, and later ones may no longer be kept");
        }
        let connection = buffer.connect(last);
        drop(buffer);
        self.changed.notify_waiters();
        Ok(connection)
    }

    /// The next message for a connection, and its number; `None` when the stream is finished or another connection has
    /// replaced this one.
    pub(crate) fn poll_next(&self, connection: u64, cx: &mut Context<'_>) -> Poll<Option<(u64, Bytes)>> {
        let next = self.buffer.lock().send(connection, cx);
        if let Poll::Ready(Some(_)) = next {
            self.changed.notify_waiters();
        }
        next
    }

    pub(crate) fn disconnect(&self, connection: u64) {
        self.buffer.lock().disconnect(connection);
        self.changed.notify_waiters();
    }
}

impl Logged for Stream {
    fn logged(&self, number: u64) -> Option<u32> {
        let reader = self.buffer.lock().logged(number);
        self.changed.notify_waiters();
        reader
    }
}
