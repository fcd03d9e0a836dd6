//! The session store, which several machines can share.

use std::collections::HashMap;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::Revision;
use tokio::time::Instant;

use super::instances::Instances;
use crate::sync::Mutex;

/// The future of a store's answer.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The error of a store.
pub type StoreError = Box<dyn Error + Send + Sync>;

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

/// The sessions of one process.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Records>);

#[derive(Debug, Default)]
struct Records {
    of: HashMap<String, (SessionRecord, Instant)>,
    /// At this number of records, the expired ones are removed.
    crowded: usize,
}

impl SessionStore for MemoryStore {
    fn create<'a>(&'a self, id: &'a str, record: SessionRecord, expiry: Duration) -> StoreFuture<'a, ()> {
        let (mut records, now) = (self.0.lock(), Instant::now());
        if records.of.len() >= records.crowded {
            records.of.retain(|_, (_, expires)| *expires > now);
            // Doubling keeps the average cost of a new session constant.
            records.crowded = (2 * records.of.len()).max(64);
        }
        records.of.insert(id.to_owned(), (record, now + expiry));
        Box::pin(async { Ok(()) })
    }

    fn touch<'a>(&'a self, id: &'a str, expiry: Duration) -> StoreFuture<'a, Option<SessionRecord>> {
        let (mut records, now) = (self.0.lock(), Instant::now());
        let found = records.of.get_mut(id).filter(|(_, expires)| *expires > now);
        let record = found.map(|(record, expires)| {
            *expires = now + expiry;
            record.clone()
        });
        Box::pin(async { Ok(record) })
    }

    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        self.0.lock().of.remove(id);
        Box::pin(async { Ok(()) })
    }
}
