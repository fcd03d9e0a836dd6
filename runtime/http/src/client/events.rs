//! The events of a response.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::Response;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::error::HttpError;
use super::sse::{Event, Parser};

/// How long other messages wait for the standalone stream to open.
const OPENING: Duration = Duration::from_secs(1);

/// The events of a response.
pub(super) struct Events {
    response: Response,
    parser: Parser,
    ready: VecDeque<Event>,
}

impl Events {
    pub(super) fn new(response: Response, limit: usize) -> Self {
        Self {
            response,
            parser: Parser::new(limit),
            ready: VecDeque::new(),
        }
    }

    /// The next event; `None` also when the connection was cut, since a stream says nothing at its end.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.parser.push(&chunk, &mut self.ready),
                Ok(None) => return None,
                Err(error) => {
                    tracing::debug!(error = %HttpError::Network(error), "a stream was cut");
                    return None;
                }
            }
        }
    }
}

/// Whether an event has a message. The first event of a stream may have only an id.
pub(super) fn is_message(event: &Event) -> bool {
    matches!(event.name.as_slice(), b"" | b"message") && !event.data.trim_ascii().is_empty()
}

/// The standalone stream while it is being opened.
#[must_use]
pub(super) struct OpeningStream(pub(super) oneshot::Receiver<()>);

impl OpeningStream {
    /// Waits a moment until the stream is open: many servers lose messages while nobody reads it.
    pub(super) async fn opened(self) {
        if timeout(OPENING, self.0).await.is_err() {
            tracing::debug!("the standalone stream is slow to open");
        }
    }
}
