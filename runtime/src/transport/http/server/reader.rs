//! A connection that a stream is read through, and what it looks like on the wire.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::Bytes;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep, sleep};

use super::session::Session;
use super::stream::Stream;

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
    connection: u64,
    /// The last event that the client has.
    last: EventId,
    first: Option<Bytes>,
    keep_alive: Pin<Box<Sleep>>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Reader {
    pub(super) fn new(
        stream: Arc<Stream>,
        session: Arc<Session>,
        connection: u64,
        last: EventId,
        opening: Opening,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Self {
        let retry = session.limits.retry.as_millis();
        let first = match opening {
            // Some clients take an empty event for a broken message; a field alone is none.
            Opening::Quiet => format!("retry: {retry}\n"),
            Opening::Primed => format!("id: {last}\nretry: {retry}\ndata:\n\n"),
            Opening::Endpoint(uri) => format!("event: endpoint\ndata: {uri}\n\n"),
        };
        Self {
            stream,
            connection,
            last,
            first: Some(first.into()),
            keep_alive: Box::pin(sleep(session.limits.keep_alive)),
            session,
            _permit: permit,
        }
    }

    /// The client was there, and will hear something again.
    fn heard(&mut self) {
        let interval = self.session.limits.keep_alive;
        self.keep_alive.as_mut().reset(Instant::now() + interval);
        self.session.touch();
    }
}

impl futures_core::Stream for Reader {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let reader = &mut *self;
        if let Some(first) = reader.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        if let Poll::Ready(next) = reader.stream.poll_next(reader.connection, cx) {
            return Poll::Ready(next.map(|(number, json)| {
                reader.heard();
                reader.last.event = number;
                let id = (!reader.session.is_legacy()).then_some(&reader.last);
                Ok(event(id, &json))
            }));
        }
        ready!(reader.keep_alive.as_mut().poll(cx));
        reader.heard();
        // Without an empty line after it: some clients would take that for the end of an event without data.
        Poll::Ready(Some(Ok(Bytes::from_static(b":\n"))))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stream.disconnect(self.connection);
        if self.session.is_legacy() {
            self.session.end();
        }
    }
}

fn event(id: Option<&EventId>, json: &[u8]) -> Bytes {
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

/// What `Last-Event-ID` says. An event that is sent again keeps its id.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) nonce: u32,
    pub(super) stream: u64,
    pub(super) event: u64,
    pub(super) line: u64,
}

impl EventId {
    pub(super) fn parse(id: &str) -> Option<Self> {
        let mut parts = id.split('-');
        Some(Self {
            nonce: u32::from_str_radix(parts.next()?, 16).ok()?,
            stream: parts.next()?.parse().ok()?,
            event: parts.next()?.parse().ok()?,
            line: parts.next()?.parse().ok()?,
        })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{}-{}-{}", self.nonce, self.stream, self.event, self.line)
    }
}
