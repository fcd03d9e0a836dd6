//! What the instances of a server share of a session besides its start.

use bytes::Bytes;

use super::future::StoreFuture;

/// What a [`SessionStore`](super::SessionStore) does besides, so that a client may send each message of a session to another
/// instance of the server.
///
/// Each instance that gets a request of a session has an engine for it, which has a number. A request is handled by the engine
/// that gets it, and the events of its stream are logged, so that any instance can send them to a client that resumes the
/// stream. What the client sends to a wrong instance goes to the inbox of the right one.
///
/// Each instance has a value of its own of this type. Its methods give up after a bounded time if the store doesn't answer.
pub trait Instances: Send + Sync + 'static {
    /// Adds an engine of this instance to a session. Its number is one that the session has given to no engine yet, and greater
    /// than 0: the instance that has created the session has engine 0. `None` if there is no such session.
    fn join<'a>(&'a self, session: &'a str) -> StoreFuture<'a, Option<u32>>;

    /// Whether the instance that has this engine runs.
    fn is_alive<'a>(&'a self, session: &'a str, engine: u32) -> StoreFuture<'a, bool>;

    /// Puts a message into inboxes. It is dropped where nobody reads the inbox.
    fn send<'a>(&'a self, session: &'a str, to: Recipient, message: &'a [u8]) -> StoreFuture<'a, ()>;

    /// Takes the messages from the inbox of this instance. If there are none, it waits about a second for one.
    fn receive(&self) -> StoreFuture<'_, Vec<InboxMessage>>;

    /// Appends entries to logs. An entry whose number a log has passed already is left out. So it does no harm to append
    /// the same ones again.
    fn append<'a>(&'a self, entries: &'a [&'a LogAppend]) -> StoreFuture<'a, ()>;

    /// The entries of a log from a number on, in order. There may be more of them than it gives, unless it gives none.
    fn read<'a>(&'a self, log: &'a LogId, from: u64) -> StoreFuture<'a, Vec<LogEntry>>;
}

/// Which instances a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recipient {
    /// The one that has this engine of the session.
    Engine(u32),
    /// Every other one that has an engine of the session.
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
    /// The message. The entries at the beginning and at the end have none, and events whose messages couldn't be stored.
    pub json: Option<Bytes>,
    /// The ids of the requests that have no response up to here, as a JSON array.
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
