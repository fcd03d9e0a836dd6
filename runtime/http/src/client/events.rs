//! The server-sent events of a response.

use std::collections::VecDeque;

use super::body::Response;
use super::sse::{Event, Parser};

/// The server-sent events of a response.
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

    /// The next event; `None` at the end, and also when the connection was cut, since a stream doesn't mark its end.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            match self.response.body_mut().chunk().await {
                Ok(Some(chunk)) => self.parser.push(&chunk, &mut self.ready),
                Ok(None) => return None,
                Err(error) => {
                    tracing::debug!(%error, "a stream was cut");
                    return None;
                }
            }
        }
    }
}

/// Whether an event has a message. The first event of a stream can have only an id.
pub(super) fn is_message(event: &Event) -> bool {
    !event.oversized && matches!(event.name.as_slice(), b"" | b"message") && !event.data.trim_ascii().is_empty()
}
