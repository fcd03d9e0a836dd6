//! A stream of messages to the client, which outlives the connections that it is read through.

use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll};

use axum::body::Bytes;
use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::timeout;

use super::buffer::Buffer;
use super::config::Limits;
use super::memory::Memory;
use super::reader::{EventId, Opening, Reader};
use super::session::Session;
use crate::sync::Mutex;

/// Messages in order, of which the latest are kept until they are sent, and for a client that asks for them again.
///
/// A client reads them through a line, and it may have several: then each message is sent on one of them only.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) id: u64,
    pub(super) content: Content,
    memory: Memory,
    buffer: Mutex<Buffer>,
    /// An event was sent, a connection has come or gone, or the stream is done.
    changed: Notify,
}

/// What belongs on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Any,
    /// Answers only: they will be one JSON value.
    Answers,
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
    pub(super) fn new(id: u64, content: Content, memory: Memory, deserted: bool) -> Self {
        Self {
            id,
            content,
            memory,
            buffer: Mutex::new(Buffer::new(deserted)),
            changed: Notify::new(),
        }
    }

    /// Adds a message, and waits while there is no room for it. One that is `kept` has room always, and never makes way.
    pub(super) async fn push(&self, json: Bytes, kept: bool, limits: &Limits) {
        loop {
            let changed = self.changed.notified();
            if self.buffer.lock().take(&json, kept, limits, &self.memory) {
                return;
            }
            if timeout(limits.stall, changed).await.is_err() {
                tracing::warn!(stream = self.id, "a client reads nothing, and its buffer is full");
                self.buffer.lock().give_up();
            }
        }
    }

    /// Adds an answer, for which there is always room.
    pub(super) fn answer(&self, json: Bytes, limits: &Limits) {
        self.buffer.lock().take(&json, true, limits, &self.memory);
        self.changed.notify_waiters();
    }

    /// No more messages will come. Those that are there can still be read. Says whether somebody has read the stream, and
    /// may come back for the rest.
    pub(super) fn finish(&self) -> bool {
        let was_read = self.buffer.lock().finish();
        self.changed.notify_waiters();
        was_read
    }

    /// Forgets all messages, unless somebody is about to read them.
    pub(super) fn clear_unread(&self) {
        self.buffer.lock().clear_unread();
    }

    /// How many bytes of messages are kept.
    pub(super) fn bytes(&self) -> usize {
        self.buffer.lock().bytes()
    }

    /// Waits until the stream is done, and takes its messages; `None` as soon as one of them isn't an answer.
    pub(super) async fn answers(&self) -> Option<Vec<Bytes>> {
        loop {
            let changed = self.changed.notified();
            if let Poll::Ready(answers) = self.buffer.lock().take_answers() {
                return answers;
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
        let mut buffer = self.buffer.lock();
        let last = EventId {
            nonce: session.nonce,
            stream: self.id,
            event: buffer.last_sent(),
            line: buffer.new_line(),
        };
        // Whoever finished it before it was read didn't keep it.
        let keeps = buffer.is_done() && last.line == 1;
        let reader = self.connect(buffer, session, last, opening, permit);
        if keeps {
            session.keep(self.clone());
        }
        reader
    }

    /// Reads a line on from after the last event that the client has. Whoever has read it until now is taken for dead.
    pub(super) fn resume(
        self: &Arc<Self>,
        session: &Arc<Session>,
        last: EventId,
        opening: Opening,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Result<Reader, Unresumable> {
        let buffer = self.buffer.lock();
        if !buffer.knows(&last) {
            return Err(Unresumable::NoSuchEvent);
        }
        // Were its line ended once more, the client would come back for it without end.
        if buffer.ends(last.line) && !buffer.has_more(&last) {
            return Err(Unresumable::NothingLeft);
        }
        if buffer.has_forgotten_after(&last) {
            tracing::warn!(%last, "a client comes back for events that may no longer be kept");
        }
        Ok(self.connect(buffer, session, last, opening, permit))
    }

    fn connect(
        self: &Arc<Self>,
        mut buffer: MutexGuard<'_, Buffer>,
        session: &Arc<Session>,
        last: EventId,
        opening: Opening,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Reader {
        let connection = buffer.connect(&last);
        drop(buffer);
        self.changed.notify_waiters();
        Reader::new(self.clone(), session.clone(), connection, last, opening, permit)
    }

    /// The next message for a connection, and its number; none once the stream is done or another connection has taken
    /// the place.
    pub(super) fn poll_next(&self, connection: u64, cx: &mut Context<'_>) -> Poll<Option<(u64, Bytes)>> {
        let next = self.buffer.lock().send(connection, cx);
        if let Poll::Ready(Some(_)) = next {
            self.changed.notify_waiters();
        }
        next
    }

    pub(super) fn disconnect(&self, connection: u64) {
        self.buffer.lock().disconnect(connection);
        self.changed.notify_waiters();
    }
}
