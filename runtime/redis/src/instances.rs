//! Communication between instances through the store.

use mcp_runtime_http::server::{InboxMessage, Instances, LogAppend, LogEntry, LogId, Recipient, StoreFuture};

use super::RedisStore;

impl Instances for RedisStore {
    fn join<'a>(&'a self, session: &'a str) -> StoreFuture<'a, Option<u32>> {
        Box::pin(self.add_engine(session))
    }

    fn is_alive<'a>(&'a self, session: &'a str, engine: u32) -> StoreFuture<'a, bool> {
        Box::pin(self.runs(session, engine))
    }

    fn send<'a>(&'a self, session: &'a str, to: Recipient, message: &'a [u8]) -> StoreFuture<'a, ()> {
        Box::pin(self.put_into_inboxes(session, to, message))
    }

    fn receive(&self) -> StoreFuture<'_, Vec<InboxMessage>> {
        Box::pin(async { self.inbox.take(&self.keys().inbox(&self.instance)).await })
    }

    fn append<'a>(&'a self, entries: &'a [&'a LogAppend]) -> StoreFuture<'a, ()> {
        Box::pin(self.append_entries(entries))
    }

    fn read<'a>(&'a self, log: &'a LogId, from: u64) -> StoreFuture<'a, Vec<LogEntry>> {
        Box::pin(self.read_entries(log, from))
    }
}
