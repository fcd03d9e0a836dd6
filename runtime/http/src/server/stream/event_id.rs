//! The ids of events.

use std::fmt;

/// The id of an event, which clients send back in `Last-Event-ID`. An event that is sent again keeps its id.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EventId {
    pub(crate) engine: u32,
    pub(crate) stream: u64,
    pub(crate) event: u64,
    pub(crate) client_stream: u64,
}

impl EventId {
    pub(crate) fn parse(id: &str) -> Option<Self> {
        let mut parts = id.split('-');
        Some(Self {
            engine: u32::from_str_radix(parts.next()?, 16).ok()?,
            stream: parts.next()?.parse().ok()?,
            event: parts.next()?.parse().ok()?,
            client_stream: parts.next()?.parse().ok()?,
        })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:x}-{}-{}-{}",
            self.engine, self.stream, self.event, self.client_stream
        )
    }
}
