//! The engine of a session, beside those that other instances have for it.

use std::sync::Arc;

use mcp_adapters::mcp_wire::RequestId;

use super::super::memory::MemoryBudgets;
use super::super::stream::{Content, STANDALONE, Stream};
use super::shared::SharedSession;

/// How many requests an engine can send before its ids are those of the next engine.
const IDS_BITS: u32 = 32;

/// The engine whose request to the client has this id.
pub(crate) fn engine_of(id: &RequestId) -> Option<u32> {
    let id = match id {
        RequestId::Integer(id) => *id,
        // Some clients answer with the id as a string.
        RequestId::String(text) => text.parse().ok()?,
    };
    u32::try_from(id >> IDS_BITS).ok()
}

/// The engine that this instance has for a session.
#[derive(Debug)]
pub(crate) struct Engine {
    /// Distinguishes its events from those of the engines that other instances have for the session.
    pub(crate) number: u32,
    pub(crate) shared: Option<Arc<SharedSession>>,
}

impl Engine {
    /// The only engine of a session.
    pub(crate) fn alone() -> Result<Self, getrandom::Error> {
        let mut number = [0; 4];
        getrandom::fill(&mut number)?;
        Ok(Self::numbered(u32::from_be_bytes(number)))
    }

    pub(crate) fn numbered(number: u32) -> Self {
        Self { number, shared: None }
    }

    /// One of the engines that instances have for a session.
    pub(crate) fn shared(shared: Arc<SharedSession>) -> Self {
        Self {
            number: shared.engine,
            shared: Some(shared),
        }
    }

    /// The id of its first request to the client.
    pub(super) fn first_request_id(&self) -> i64 {
        self.shared
            .as_ref()
            .map_or(1, |_| (i64::from(self.number) << IDS_BITS) + 1)
    }

    /// A new stream of the session, for the responses to these requests. It is logged if instances share their streams.
    pub(super) fn stream(
        &self,
        number: u64,
        content: Content,
        memory: MemoryBudgets,
        requests: &[RequestId],
    ) -> Arc<Stream> {
        match &self.shared {
            Some(shared) if content == Content::Any => shared.stream(number, memory, requests),
            _ => Arc::new(Stream::new(number, content, memory, number == STANDALONE)),
        }
    }
}
