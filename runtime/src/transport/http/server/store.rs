//! Which sessions there are, written down where several machines can read it.

use std::collections::HashMap;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::Revision;
use tokio::time::Instant;

use crate::sync::Mutex;

/// What a store answers with, sooner or later.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Why a store can't answer.
pub type StoreError = Box<dyn Error + Send + Sync>;

/// Knows which sessions there are. It is asked on every request, and what it doesn't know is answered with a 404.
///
/// What is shared is how a session began, and no more than that. A machine that meets a session which began elsewhere
/// starts an engine of its own and repeats the client's `initialize`. What happened since, such as subscriptions, and the
/// streams of requests in flight, stay on the machine that has them: a client that comes back for such a stream has to
/// come back to that machine.
pub trait SessionStore: Send + Sync + 'static {
    /// Writes down a session that has begun, for `expiry`.
    fn create<'a>(&'a self, id: &'a str, record: SessionRecord, expiry: Duration) -> StoreFuture<'a, ()>;

    /// How a session began, if it has neither ended nor expired; it then expires `expiry` from now.
    fn touch<'a>(&'a self, id: &'a str, expiry: Duration) -> StoreFuture<'a, Option<SessionRecord>>;

    /// A session has ended.
    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()>;
}

/// How a session began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// The client's request `initialize`, as it came.
    pub initialize: Arc<[u8]>,
    /// The revision that was agreed upon.
    pub revision: Revision,
    /// Whose session it is, as [`HttpServer::principal`](super::HttpServer::principal) says.
    pub principal: Option<String>,
}

/// The sessions of one process.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Records>);

#[derive(Debug, Default)]
struct Records {
    of: HashMap<String, (SessionRecord, Instant)>,
    /// With this many records, those that have expired are looked for.
    crowded: usize,
}

impl SessionStore for MemoryStore {
    fn create<'a>(&'a self, id: &'a str, record: SessionRecord, expiry: Duration) -> StoreFuture<'a, ()> {
        let (mut records, now) = (self.0.lock(), Instant::now());
        if records.of.len() >= records.crowded {
            records.of.retain(|_, (_, expires)| *expires > now);
            // Twice as many as are left, so that on average a new session costs the same however many there are.
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
