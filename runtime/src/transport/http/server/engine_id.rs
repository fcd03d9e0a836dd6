//! The engine of a session, beside those that other instances have for it.

use std::fmt;
use std::sync::Arc;

use mcp_adapters::mcp_wire::RequestId;

use super::event_log::LogQueue;
use super::instances::{Instances, LogId};
use super::listener::Listener;
use super::memory::MemoryBudgets;
use super::stream::{Content, STANDALONE, Stream};
use crate::sync::Mutex;

/// How many requests an engine can send before its ids are those of the next engine.
const IDS_BITS: u32 = 32;

/// The engine whose request to the client has this id.
pub(super) fn engine_of(id: &RequestId) -> Option<u32> {
    let id = match id {
        RequestId::Integer(id) => *id,
        // Some clients answer with the id as a string.
        RequestId::String(text) => text.parse().ok()?,
    };
    u32::try_from(id >> IDS_BITS).ok()
}

/// The engine of a session, beside those of the same session on other machines.
#[derive(Debug)]
pub(super) struct EngineId {
    /// Distinguishes its events from those of the others.
    pub(super) number: u32,
    pub(super) shared: Option<Shared>,
}

/// What the instances share.
pub(super) struct Shared {
    pub(super) instances: Arc<dyn Instances>,
    pub(super) log: LogQueue,
    pub(super) listener: Mutex<Listener>,
}

impl EngineId {
    /// An engine that shares nothing.
    pub(super) fn alone() -> Result<Self, getrandom::Error> {
        let mut number = [0; 4];
        getrandom::fill(&mut number)?;
        Ok(Self {
            number: u32::from_be_bytes(number),
            shared: None,
        })
    }

    /// One of the engines that instances have for a session.
    pub(super) fn shared(number: u32, instances: Arc<dyn Instances>, log: LogQueue) -> Self {
        let listener = Mutex::new(Listener::Unknown);
        Self {
            number,
            shared: Some(Shared {
                instances,
                log,
                listener,
            }),
        }
    }

    /// The id of its first request to the client.
    pub(super) fn first_request_id(&self) -> i64 {
        self.shared
            .as_ref()
            .map_or(1, |_| (i64::from(self.number) << IDS_BITS) + 1)
    }

    /// A new stream of a session, for the responses to these requests. It is logged if instances share their streams.
    pub(super) fn stream(
        &self,
        session: &str,
        stream: u64,
        content: Content,
        memory: MemoryBudgets,
        requests: &[RequestId],
    ) -> Arc<Stream> {
        let abandoned = stream == STANDALONE;
        match &self.shared {
            Some(shared) if content == Content::Any => {
                let log = LogId {
                    session: session.to_owned(),
                    engine: self.number,
                    stream,
                };
                Stream::logged_by(shared.log.clone(), log, memory, requests, abandoned)
            }
            _ => Arc::new(Stream::new(stream, content, memory, abandoned)),
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}
