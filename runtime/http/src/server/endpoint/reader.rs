//! Response bodies that are streams of events.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep, sleep};

use super::super::session::{HttpSession, LoggedEvents};
use super::super::stream::{EventId, ResumeError, Stream};

/// The first event of a connection.
#[derive(Debug)]
pub(super) enum FirstEvent {
    /// Only the reconnection time.
    Retry,
    /// An event without data, after which the client can resume.
    Priming,
    /// The URI to post to, in HTTP with SSE.
    Endpoint(String),
    /// A comment, so that the client gets the headers immediately.
    Comment,
}

/// The body of a response that is a stream of events.
#[derive(Debug)]
pub(super) struct Reader {
    source: Source,
    session: Arc<HttpSession>,
    /// The last event that the client has received.
    last: EventId,
    first: Option<Bytes>,
    keep_alive: Pin<Box<Sleep>>,
    _permit: Option<OwnedSemaphorePermit>,
}

/// The source of the events.
#[derive(Debug)]
enum Source {
    /// A connection to a stream.
    Stream(Arc<Stream>, u64),
    /// The log of a stream of another instance.
    Log(LoggedEvents),
}

impl Source {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<(u64, Bytes)>> {
        match self {
            Self::Stream(stream, connection) => stream.poll_next(*connection, cx),
            Self::Log(events) => events.poll_recv(cx),
        }
    }
}

impl Reader {
    /// Reads a stream from the first message that hasn't been sent yet.
    pub(super) async fn open(
        session: &Arc<HttpSession>,
        stream: Arc<Stream>,
        first: FirstEvent,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Self {
        let (last, connection, was_finished) = stream.connect(session.engine.number);
        if was_finished {
            // The stream was finished before it was read, and so it hasn't been kept yet.
            session.keep(stream.clone());
        }
        let reader = Self::new(session, Source::Stream(stream.clone(), connection), last, first, permit);
        stream.is_shared().await;
        reader
    }

    /// Reads a stream after the last event that the client has received.
    pub(super) fn resume(
        session: &Arc<HttpSession>,
        stream: Arc<Stream>,
        last: EventId,
        first: FirstEvent,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Result<Self, ResumeError> {
        let connection = stream.reconnect(&last)?;
        let source = Source::Stream(stream, connection);
        Ok(Self::new(session, source, last, first, permit))
    }

    /// Reads a stream of another instance after the last event that the client has received.
    pub(super) fn follow(
        session: &Arc<HttpSession>,
        events: LoggedEvents,
        last: EventId,
        first: FirstEvent,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Self {
        Self::new(session, Source::Log(events), last, first, permit)
    }

    /// Sends these events first. Their ids are those of another stream.
    pub(super) fn after(mut self, events: Vec<(EventId, Bytes)>) -> Self {
        if !events.is_empty() {
            let mut first: Vec<u8> = events.iter().flat_map(|(id, json)| event(Some(id), json)).collect();
            first.extend_from_slice(self.first.as_deref().unwrap_or_default());
            self.first = Some(first.into());
        }
        self
    }

    fn new(
        session: &Arc<HttpSession>,
        source: Source,
        last: EventId,
        first: FirstEvent,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Self {
        let retry = session.limits.retry.as_millis();
        let first = match first {
            // Some clients treat an empty event as a broken message. A field without an event is ignored.
            FirstEvent::Retry => format!("retry: {retry}\n"),
            FirstEvent::Priming => format!("id: {last}\nretry: {retry}\ndata:\n\n"),
            FirstEvent::Comment => ":\n".to_owned(),
            FirstEvent::Endpoint(uri) => format!("event: endpoint\ndata: {uri}\n\n"),
        };
        Self {
            source,
            last,
            first: Some(first.into()),
            keep_alive: Box::pin(sleep(session.limits.keep_alive)),
            session: session.clone(),
            _permit: permit,
        }
    }

    /// Restarts the keep-alive timer and the session's expiry after something was sent to the client.
    fn sent(&mut self) {
        let interval = self.session.limits.keep_alive;
        self.keep_alive.as_mut().reset(Instant::now() + interval);
        self.session.usage.touch();
    }
}

impl futures_core::Stream for Reader {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let reader = &mut *self;
        if let Some(first) = reader.first.take() {
            return Poll::Ready(Some(first));
        }
        if let Poll::Ready(next) = reader.source.poll_next(cx) {
            return Poll::Ready(next.map(|(number, json)| {
                reader.sent();
                reader.last.event = number;
                let id = reader.session.is_resumable().then_some(&reader.last);
                let event = event(id, &json);
                reader.session.memory.charge(event.len()).holding(event)
            }));
        }
        ready!(reader.keep_alive.as_mut().poll(cx));
        reader.sent();
        // Without an empty line after it: some clients would treat that as the end of an event without data.
        Poll::Ready(Some(Bytes::from_static(b":\n")))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Source::Stream(stream, connection) = &self.source {
            stream.disconnect(*connection);
        }
        if !self.session.is_resumable() {
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
    // In JSON, a line break is only white space, but in an event it ends a field.
    event.extend(
        json.iter()
            .map(|&byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }),
    );
    event.extend_from_slice(b"\n\n");
    event.into()
}
