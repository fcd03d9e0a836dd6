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

/// Stores the existing sessions. It is queried for every request. A request of a session that it doesn't have gets a
/// 404.
///
/// When a request comes to a machine that doesn't have the session, that machine starts its own engine and repeats the
/// client's `initialize`. Without [`SessionStore::instances`], only the start of a session is shared: a client that
/// resumes a stream, responds to a request of the server or cancels a request has to reach the machine that handles the
/// request.
pub trait SessionStore: Send + Sync + 'static {
    /// Stores a new session. It expires after `expiry`.
    fn create<'a>(&'a self, id: &'a str, record: SessionRecord, expiry: Duration) -> StoreFuture<'a, ()>;

    /// Returns the record of a session that has neither ended nor expired, and restarts its expiry.
    fn touch<'a>(&'a self, id: &'a str, expiry: Duration) -> StoreFuture<'a, Option<SessionRecord>>;

    /// Removes a session that has ended.
    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()>;

    /// The part with which instances of the server share streams and messages, if the store has it. The default is
    /// `None`.
    fn instances(self: Arc<Self>) -> Option<Arc<dyn Instances>> {
        None
    }
}

/// The start of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// The client's `initialize` request, unchanged.
    pub initialize: Arc<[u8]>,
    /// The negotiated revision.
    pub revision: Revision,
    /// The principal, as determined by [`HttpServer::principal`](super::HttpServer::principal).
    pub principal: Option<String>,
}
