//! The options and limits of a session.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::hub::LoggingLevel;
use mcp_adapters::mcp_wire::Invalid;
use mcp_adapters::{Loss, Revision};

use crate::era::Era;
use crate::rounds::Sealing;
use crate::session::discovery::Discovery;

/// Is called with the losses of a conversion, and the method of the message or result.
pub type LossObserver = Arc<dyn Fn(&str, &[Loss]) + Send + Sync>;

/// Is called with the violations of a message or result of the peer, and its method.
pub type ViolationObserver = Arc<dyn Fn(&str, &Invalid) + Send + Sync>;

/// How messages of the peer are treated that can be decoded but violate the schema of the peer's revision.
///
/// The schema is the official one of that revision, as corrected by its overlay. Parameters and results are validated
/// before any conversion. Members that the schema doesn't declare are allowed unless it forbids them. Methods that it
/// doesn't declare are not validated. Messages that can't be decoded are always refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Validation {
    /// The message is handled all the same. Some responses that can't be decoded are corrected, because most
    /// implementations accept them: an id that is the request's number as a string, `null` beside the result or the
    /// error, and the departures in [`Revision::tolerances`]. Violations are reported to `tracing`, at the debug level,
    /// and to [`Options::violations`]. If neither is enabled, nothing is validated.
    #[default]
    Lenient,
    /// A request gets an error response that names the violations, a notification is dropped, and a call fails with
    /// [`CallError::InvalidResult`](crate::CallError::InvalidResult). Violations are reported as well.
    Strict,
}

/// The options of a session.
#[derive(Clone)]
pub struct Options {
    /// The revisions that may be used. By default, every released one.
    pub supported: Vec<Revision>,
    /// The limits.
    pub limits: Limits,
    /// Gets the losses of conversions. `tracing` gets them too.
    pub losses: Option<LossObserver>,
    /// How messages that violate the schema are treated.
    pub validation: Validation,
    /// Gets the violations of messages. `tracing` gets them too. Every message is validated for it, which takes longer
    /// than decoding.
    pub violations: Option<ViolationObserver>,
    /// The era that a client takes its server for, if it is known from before: then the server isn't asked. A server ignores
    /// it.
    pub era: Option<Era>,
    /// What is known of the server from an earlier connection ([`Session::discovery`](crate::Session::discovery)): then the client asks
    /// nothing of it. A server ignores it, and so does a client that doesn't support its revision.
    pub discovery: Option<Discovery>,
    /// How a server seals the state of a request that needs answers of the client. A client ignores it.
    pub sealing: Sealing,
    /// The least severe log messages that a client wants. Each request to a stateless server says so, and a server with
    /// sessions is told after the handshake if it has log messages. By default a stateless server sends none, and one with
    /// sessions decides itself.
    pub log_level: Option<LoggingLevel>,
    /// Whether a client keeps lists and contents of resources as long as the server says that they are fresh, and answers
    /// calls with them; it doesn't by default.
    pub cache: Option<CacheLimits>,
}

/// The limits of the results that a client keeps.
///
/// A result is kept for its `ttlMs`, by the method and parameters of its request without `_meta`, and each page of a list by
/// itself. A change that the server notifies of ends that: for a list, any notification that it has changed, and for a
/// resource one that names its URI. Without [`Peer::changes`](crate::Peer::changes), servers of the stateless era send none.
/// Results of requests that answer the server's questions are never kept.
///
/// Each session keeps results for itself, so that those whose `cacheScope` is `private` are shared with nobody. A client
/// whose authorization changes needs another session.
///
/// [Specification](https://modelcontextprotocol.io/specification/2026-07-28/schema#cacheableresult)
#[derive(Debug, Clone, Copy)]
pub struct CacheLimits {
    /// Results that are kept. Beyond this limit and the next, those that would be stale first make room.
    pub entries: usize,
    /// Bytes of JSON of their requests and of themselves.
    pub bytes: usize,
    /// How long a result is fresh at most, whatever the server says.
    pub fresh: Duration,
}

impl Default for CacheLimits {
    /// 256 results, 16 MiB, and a day.
    fn default() -> Self {
        Self {
            entries: 256,
            bytes: 16 << 20,
            fresh: Duration::from_secs(24 * 60 * 60),
        }
    }
}

/// The default limit of messages in a batch.
pub const MAX_BATCH: usize = 1000;

/// The limits of a session.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Requests of the peer that are handled at a time.
    pub in_flight: usize,
    /// Requests of the peer that wait for that. Beyond this limit, a request is refused with an error.
    pub waiting: usize,
    /// Bytes of JSON of the requests that are handled or wait. Beyond this limit, a request is refused with an error. Here
    /// and below, each message counts 512 bytes more than its JSON has.
    pub request_bytes: usize,
    /// Messages in a batch. A batch with more is refused as a whole. The HTTP server accepts at most 1,000.
    pub batch: usize,
    /// Bytes of JSON of the parameters of `initialize`, which are kept as long as the session lasts.
    pub initialize_bytes: usize,
    /// Bytes of the responses that the peer hasn't read. Beyond this limit, no further request is handled until the peer
    /// reads, and responses that need no handler, such as to a ping or a refused request, are dropped.
    pub unread_bytes: usize,
    /// Notifications of the peer that wait for the handler. Beyond this limit, one that equals a waiting one is merged with
    /// it, and any other is dropped with a warning. Receiving never waits for a handler.
    pub notifications: usize,
    /// Bytes of JSON of the notifications that wait.
    pub notification_bytes: usize,
    /// Requests for changes of the peer at a time. Each lasts until one of the sides ends it.
    pub subscriptions: usize,
    /// Bytes of the URIs of the resources that the peer has subscribed to.
    pub subscription_bytes: usize,
    /// Pages of a list of the peer.
    pub pages: usize,
    /// How often a request is repeated with answers to what its result asks: by a client, and by a server whose handler returns
    /// questions to a client of the era with a handshake.
    pub rounds: usize,
    /// Bytes of the sealed state of a request. It has the answers of all earlier rounds.
    pub state_bytes: usize,
    /// How long a server has to say what it is. One that is silent for longer is taken for one with a handshake. If
    /// no such revision is supported, [`Self::answer`] counts.
    pub probe: Duration,
    /// The timeout of a call. Progress restarts it.
    pub answer: Duration,
    /// The timeout of a call whatever progress it makes.
    pub answer_at_most: Duration,
    /// The time that requests in flight have when the session is closed.
    pub closing: Duration,
}

impl Options {
    /// The latest revision of an era that may be used.
    pub(crate) fn latest(&self, era: Era) -> Option<Revision> {
        let is_excluded = self.era.is_some_and(|only| only != era);
        let revisions = self.supported.iter().copied().filter(|_| !is_excluded);
        revisions.filter(|revision| Era::of(*revision) == era).max()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            supported: Revision::all()
                .filter(|revision| revision.facts().released || !Revision::ALL.contains(revision))
                .collect(),
            limits: Limits::default(),
            losses: None,
            validation: Validation::default(),
            violations: None,
            era: None,
            discovery: None,
            sealing: Sealing::default(),
            log_level: None,
            cache: None,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_flight: 64,
            waiting: 1024,
            request_bytes: 32 << 20,
            batch: MAX_BATCH,
            initialize_bytes: 256 << 10,
            unread_bytes: 64 << 20,
            notifications: 256,
            notification_bytes: 4 << 20,
            subscriptions: 1024,
            subscription_bytes: 6 << 20,
            pages: 10_000,
            rounds: 10,
            state_bytes: 1 << 20,
            probe: Duration::from_secs(10),
            answer: Duration::from_secs(60),
            answer_at_most: Duration::from_secs(600),
            closing: Duration::from_secs(5),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("supported", &self.supported)
            .field("limits", &self.limits)
            .field("validation", &self.validation)
            .field("era", &self.era)
            .field("sealing", &self.sealing)
            .finish_non_exhaustive()
    }
}
