//! The engine of a session. Other instances can have further engines for it.

use std::sync::Arc;

use mcp_adapters::mcp_wire::RequestId;

use super::super::memory::MemoryBudgets;
use super::super::stream::{Content, STANDALONE, Stream};
use super::shared::SharedSession;

/// The number of low bits in the id of a request to the client that count an engine's requests. The high bits are the
/// engine's number.
const IDS_BITS: u32 = 32;

/// The engine whose request to the client has this id.
pub(crate) fn engine_of(id: &RequestId) -> Option<u32> {
    let id = match id {
        RequestId::Integer(id) => *id,
        // Some clients send the id back as a string.
        RequestId::String(text) => text.parse().ok()?,
    };
    u32::try_from(id >> IDS_BITS).ok()
}

/// The engine that this instance has for a session.
#[derive(Debug)]
pub(crate) struct Engine {
    /// Distinguishes the events of this engine from those of other instances' engines for the session.
    pub(crate) number: u32,
    pub(crate) shared: Option<Arc<SharedSession>>,
}

impl Engine {
    /// The only engine of a session, with a random number.
    pub(crate) fn alone() -> Result<Self, getrandom::Error> {
        let mut number = [0; 4];
        getrandom::fill(&mut number)?;
        Ok(Self::numbered(u32::from_be_bytes(number)))
    }

    pub(crate) fn numbered(number: u32) -> Self {
        Self { number, shared: None }
    }

    /// One of several engines that instances have for a session.
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

    /// Creates a stream of the session, for the responses to these requests. It is logged if instances share their
    /// streams.
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
