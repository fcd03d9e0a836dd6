//! The session store of one process.

use std::collections::HashMap;
use std::time::Duration;

use mcp_runtime_util::Mutex;
use tokio::time::Instant;

use super::{SessionRecord, SessionStore, StoreFuture};

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
