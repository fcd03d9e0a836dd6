//! The part of a session store with which instances of a server share streams and messages.

use bytes::Bytes;

use super::future::StoreFuture;

/// The part of a [`SessionStore`](super::SessionStore) that lets a client send each message of a session to another
/// instance of the server.
///
/// Each instance that gets a request of a session has an engine for the session, with a number. A request is handled by
/// the engine of the instance that gets it, and the events of its stream are logged, so that any instance can send them
/// to a client that resumes the stream. A message that the client sends to the wrong instance is forwarded to the inbox
/// of the right one.
///
/// Each instance has its own value of this type. Its methods have to fail after a bounded time if the store doesn't
/// respond.
pub trait Instances: Send + Sync + 'static {
    /// Adds an engine of this instance to a session, and returns its number: greater than 0, and never used before in
    /// the session. The instance that has created the session has engine 0. `None` if there is no such session.
    fn join<'a>(&'a self, session: &'a str) -> StoreFuture<'a, Option<u32>>;

    /// Whether the instance with this engine is running.
    fn is_alive<'a>(&'a self, session: &'a str, engine: u32) -> StoreFuture<'a, bool>;

    /// Puts a message into inboxes. It is dropped if no instance reads the inbox.
    fn send<'a>(&'a self, session: &'a str, to: Recipient, message: &'a [u8]) -> StoreFuture<'a, ()>;

    /// Takes the messages from the inbox of this instance. If there are none, it waits about a second for one.
    fn receive(&self) -> StoreFuture<'_, Vec<InboxMessage>>;

    /// Appends entries to logs. An entry is skipped if its log already has this number or a later one, so that entries
    /// can safely be appended again.
    fn append<'a>(&'a self, entries: &'a [&'a LogAppend]) -> StoreFuture<'a, ()>;

    /// Reads the entries of a log from a number on, in order. The result can be incomplete, but it is empty only if
    /// there are no more.
    fn read<'a>(&'a self, log: &'a LogId, from: u64) -> StoreFuture<'a, Vec<LogEntry>>;
}

/// The instances that a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recipient {
    /// The instance that has this engine of the session.
    Engine(u32),
    /// All other instances that have an engine of the session.
    Others,
}

/// A message from the inbox of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxMessage {
    /// The id of the session.
    pub session: String,
    /// The message, which the store doesn't interpret.
    pub message: Vec<u8>,
}

/// The log of one stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LogId {
    /// The id of the session.
    pub session: String,
    /// The number of the engine whose stream it is.
    pub engine: u32,
    /// The number of the stream.
    pub stream: u64,
}

/// An entry of a log: its beginning, an event, or its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// The number of the event. The entry at the beginning has 0.
    pub number: u64,
    /// The message. It is missing in the entries at the beginning and at the end, and in events whose messages couldn't
    /// be stored.
    pub json: Option<Bytes>,
    /// The ids of the requests that have no response up to this entry, as a JSON array.
    pub unanswered: String,
    /// Whether the log ends here.
    pub is_end: bool,
}

/// An entry that is appended to a log.
#[derive(Debug, Clone)]
pub struct LogAppend {
    /// The log.
    pub log: LogId,
    /// The entry.
    pub entry: LogEntry,
    /// Entries before this number are removed.
    pub oldest: u64,
}
