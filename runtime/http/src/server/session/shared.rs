//! Sessions that several instances of the server share.

use std::fmt;
use std::sync::Arc;

use mcp_adapters::mcp_wire::RequestId;
use mcp_runtime_util::Mutex;
use tokio::sync::Notify;

use super::super::memory::MemoryBudgets;
use super::super::store::{Instances, LogId, Note, Recipient};
use super::super::stream::{LogQueue, STANDALONE, Stream};

/// This instance's state of a session that several instances of the server share.
pub(crate) struct SharedSession {
    pub(super) instances: Arc<dyn Instances>,
    log: LogQueue,
    /// The id of the session.
    pub(super) session: String,
    /// The number of the engine that this instance has for the session.
    pub(super) engine: u32,
    pub(super) listener: Mutex<Listener>,
    /// Notified when a stream of another instance, which is read here, has another event.
    pub(crate) logged_elsewhere: Notify,
}

/// The instance at which the client reads the standalone stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listener {
    Unknown,
    /// Not known yet: the other instances have been asked.
    Asked,
    /// At this instance.
    Here,
    /// At the instance with this engine.
    At(u32),
}

impl SharedSession {
    pub(crate) fn new(instances: Arc<dyn Instances>, log: LogQueue, session: String, engine: u32) -> Arc<Self> {
        Arc::new(Self {
            instances,
            log,
            session,
            engine,
            listener: Mutex::new(Listener::Unknown),
            logged_elsewhere: Notify::new(),
        })
    }

    /// The log of a stream of an engine of this session.
    pub(super) fn log_of(&self, engine: u32, stream: u64) -> LogId {
        LogId {
            session: self.session.clone(),
            engine,
            stream,
        }
    }

    /// Creates a stream of this instance for the responses to these requests, which is logged.
    pub(super) fn stream(&self, number: u64, memory: MemoryBudgets, requests: &[RequestId]) -> Arc<Stream> {
        let log = self.log_of(self.engine, number);
        Stream::logged_by(self.log.clone(), log, memory, requests, number == STANDALONE)
    }

    /// Sends other instances a note about the session.
    pub(crate) async fn notify(&self, to: Recipient, note: &Note<'_>) {
        note.send(&*self.instances, &self.session, to).await;
    }
}

impl fmt::Debug for SharedSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedSession")
            .field("engine", &self.engine)
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}
