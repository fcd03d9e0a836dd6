//! The session store, which several machines can share.

mod future;
mod instances;
mod memory;
mod note;

use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::Revision;

pub use self::future::{StoreError, StoreFuture};
pub use self::instances::{InboxMessage, Instances, LogAppend, LogEntry, LogId, Recipient};
pub use self::memory::MemoryStore;
pub(crate) use self::note::Note;

/// Stores which sessions exist. It is asked on every request. A session that it doesn't have gets a 404.
///
/// When a request comes to a machine that doesn't have the session, that machine starts an engine of its own and repeats the
/// client's `initialize`. Without [`SessionStore::instances`], only the start of a session is shared: a client that resumes a
/// stream, answers a question of the server or cancels a request has to reach the machine that handles the request.
pub trait SessionStore: Send + Sync + 'static {
    /// Stores a new session. It expires after `expiry`.
    fn create<'a>(&'a self, id: &'a str, record: SessionRecord, expiry: Duration) -> StoreFuture<'a, ()>;

    /// The record of a session that has neither ended nor expired. Its expiry starts again.
    fn touch<'a>(&'a self, id: &'a str, expiry: Duration) -> StoreFuture<'a, Option<SessionRecord>>;

    /// Removes a session that has ended.
    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()>;

    /// What instances of the server share besides, if the store has it. The default is `None`.
    fn instances(self: Arc<Self>) -> Option<Arc<dyn Instances>> {
        None
    }
}

/// The start of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// The client's request `initialize`, as it came.
    pub initialize: Arc<[u8]>,
    /// The negotiated revision.
    pub revision: Revision,
    /// The principal, as determined by [`HttpServer::principal`](super::HttpServer::principal).
    pub principal: Option<String>,
}
