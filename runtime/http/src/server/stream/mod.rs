//! A stream of messages to the client, which outlives its connections.

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

/// Messages in order. The latest are kept until they are sent, and for a client that resumes.
///
/// A client may have several client streams of it: then each message is sent on one of them only.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) id: u64,
    pub(crate) content: Content,
    memory: MemoryBudgets,
    buffer: Mutex<Buffer>,
    /// Notified when an event was sent or logged, a connection has come or gone, or the stream is finished.
    changed: Notify,
}

/// The number of the stream for messages that are related to no request.
pub(crate) const STANDALONE: u64 = 0;

/// Which messages a stream takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Any,
    /// Only responses. They become one JSON value.
    Responses,
}

/// Why a stream can't be resumed.
#[derive(Debug)]
pub(crate) enum ResumeError {
    NoSuchEvent,
    /// The client has all events.
    NothingLeft,
}

impl Stream {
    /// An empty stream. If it is `abandoned` from the start, senders don't wait for its first reader.
    pub(crate) fn new(id: u64, content: Content, memory: MemoryBudgets, abandoned: bool) -> Self {
        Self {
            id,
            content,
            memory,
            buffer: Mutex::new(Buffer::new(abandoned, None)),
            changed: Notify::new(),
        }
    }

    /// An empty stream of the responses to these requests, which is logged.
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

    /// Adds a message, and waits while there is no room for it.
    pub(crate) async fn push(&self, json: Bytes, limits: &SessionLimits) {
        loop {
            let changed = self.changed.notified();
            if self.buffer.lock().take(&json, false, limits, &self.memory) {
                return;
            }
            if timeout(limits.stall, changed).await.is_err() {
                tracing::warn!(stream = self.id, "a client reads nothing, and its buffer is full");
                self.buffer.lock().give_up();
            }
        }
    }

    /// Adds the response to these requests, for which there is always room. It is never dropped.
    pub(crate) fn push_response(&self, ids: &[RequestId], json: &Bytes, limits: &SessionLimits) {
        let mut buffer = self.buffer.lock();
        buffer.answered(ids);
        buffer.take(json, true, limits, &self.memory);
        drop(buffer);
        self.changed.notify_waiters();
    }

    /// The instance with another engine sends the events to the client, which has those before `next`. `true` if there are
    /// more; otherwise, the instance waits for one.
    pub(crate) fn read_elsewhere(&self, next: u64, reader: u32) -> bool {
        let has_more = self.buffer.lock().read_elsewhere(next, reader);
        self.changed.notify_waiters();
        has_more
    }

    /// Takes the messages that the client hasn't got: those from the event `next` on, or else those that weren't sent.
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

    /// No more messages will come; the client can still read the buffered ones. `true` if somebody has read the stream, and
    /// may resume it.
    pub(crate) fn finish(&self) -> bool {
        let was_read = self.buffer.lock().finish();
        self.changed.notify_waiters();
        was_read
    }

    /// Drops all messages, unless somebody is reading them.
    pub(crate) fn clear_unread(&self) {
        self.buffer.lock().clear_unread();
    }

    /// How many bytes of messages are kept.
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

    /// Connects a new client stream, which gets the messages that weren't sent yet. Gives the id of the event before
    /// them, the number of the connection, and whether the stream was finished before anybody read it.
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

    /// Reconnects a client stream after the last event that the client has, and gives the number of the connection. The
    /// connection that it had before is taken for dead.
    pub(crate) fn reconnect(&self, last: &EventId) -> Result<u64, ResumeError> {
        let mut buffer = self.buffer.lock();
        if !buffer.knows(last) {
            return Err(ResumeError::NoSuchEvent);
        }
        // If it ended again without an event, the client would reconnect without end.
        if buffer.ends(last.client_stream) && !buffer.has_more(last) {
            return Err(ResumeError::NothingLeft);
        }
        if buffer.has_forgotten_after(last) {
            tracing::warn!(%last, "a client reconnects for events that may no longer be kept");
        }
        let connection = buffer.connect(last);
        drop(buffer);
        self.changed.notify_waiters();
        Ok(connection)
    }

    /// The next message for a connection, and its number; none when the stream is finished or another connection has
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
