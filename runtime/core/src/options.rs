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

/// A function called with the method of a converted message or result, and the losses of the conversion.
pub type LossObserver = Arc<dyn Fn(&str, &[Loss]) + Send + Sync>;

/// Logs losses, as a session without an observer does.
pub fn log_losses(method: &str, losses: &[Loss]) {
    for loss in losses {
        tracing::debug!(method, path = %loss.path, kind = %loss.kind, rule = loss.rule, "lost in conversion");
    }
}

/// A function called with the method of a message or result from the peer, and its violations of the schema.
pub type ViolationObserver = Arc<dyn Fn(&str, &Invalid) + Send + Sync>;

/// The treatment of messages that can be decoded but violate the schema of the peer's revision.
///
/// The schema is the official one of that revision, as corrected by its overlay. Parameters and results are validated
/// before any conversion. Members that the schema doesn't declare are allowed unless it forbids them. Methods that it
/// doesn't declare are not validated. Messages that can't be decoded are always refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Validation {
    /// The message is handled anyway. Some responses that can't be decoded are corrected, because most implementations
    /// accept them: an id that is the request's number as a string, `null` next to the result or the error, and the
    /// departures in [`Revision::tolerances`]. An entry of a list that can't be decoded, such as a tool without a schema,
    /// is left out with a warning. Violations are reported to `tracing`, at the debug level, and to
    /// [`Options::violations`]. If neither is enabled, nothing is validated.
    #[default]
    Lenient,
    /// A request gets an error response that names the violations, a notification is dropped, and a call fails with
    /// [`CallError::InvalidResult`](crate::CallError::InvalidResult). Violations are reported as well.
    Strict,
}

/// The options of a session.
#[derive(Clone)]
pub struct Options {
    /// The supported revisions. By default, every released one.
    pub supported: Vec<Revision>,
    /// The limits.
    pub limits: Limits,
    /// Gets the losses of conversions. Without an observer, `tracing` gets them.
    pub losses: Option<LossObserver>,
    /// The treatment of messages that violate the schema.
    pub validation: Validation,
    /// Gets the violations of messages. `tracing` gets them too. Every message is validated for it, which takes longer
    /// than decoding.
    pub violations: Option<ViolationObserver>,
    /// The era of the server, if a client knows it already: then the client doesn't probe the server. A server ignores
    /// this option.
    pub era: Option<Era>,
    /// The discovery of the server from an earlier connection ([`Session::discovery`](crate::Session::discovery)): then
    /// the client connects without a new one. A server ignores this option, and so does a client that doesn't support
    /// the revision in it.
    pub discovery: Option<Discovery>,
    /// The sealing of the state of a request that needs input from the client. A client ignores this option.
    pub sealing: Sealing,
    /// The lowest level of log messages that a client wants. Each request to a stateless server carries it; a server
    /// with sessions gets it after the handshake if it declares the logging capability. By default a stateless server
    /// sends no log messages, and a server with sessions decides itself.
    pub log_level: Option<LoggingLevel>,
    /// The limits of a client's cache of lists and resource contents, which answers calls while the server declares the
    /// results fresh. By default, nothing is cached.
    pub cache: Option<CacheLimits>,
}

/// The limits of a client's cache of results.
///
/// A result is kept for its `ttlMs`, keyed by the method and the parameters of its request without `_meta`; each page
/// of a list is a separate entry. A change notification evicts it earlier: for a list, any notification that it has
/// changed, and for a resource one that names its URI. Without [`Peer::changes`](crate::Peer::changes), servers of the
/// stateless era send none. Results of requests that carry input responses are never kept.
///
/// Each session has its own cache, so results whose `cacheScope` is `private` are never shared. A client whose
/// authorization changes needs a new session.
///
/// [Specification](https://modelcontextprotocol.io/specification/2026-07-28/schema#cacheableresult)
#[derive(Debug, Clone, Copy)]
pub struct CacheLimits {
    /// The maximum number of results. Beyond this limit or the next, the results that would become stale first are
    /// evicted.
    pub entries: usize,
    /// The maximum bytes of JSON, of the results and their requests.
    pub bytes: usize,
    /// The maximum time that a result is fresh, even if the server declares a longer one.
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
    /// Requests of the peer that are handled at the same time.
    pub in_flight: usize,
    /// Requests of the peer that wait to be handled. Beyond this limit, a request is refused with an error.
    pub waiting: usize,
    /// Bytes of JSON of the requests that are handled or waiting. Beyond this limit, a request is refused with an
    /// error. Here and below, each message counts as its JSON plus 512 bytes.
    pub request_bytes: usize,
    /// Messages in a batch. A larger batch is refused as a whole. The HTTP server accepts at most 1,000.
    pub batch: usize,
    /// Bytes of JSON of the parameters of `initialize`, which are kept as long as the session lasts.
    pub initialize_bytes: usize,
    /// Bytes of the responses that the peer hasn't read. Beyond this limit, no further request is handled until the peer
    /// reads, and responses that need no handler, such as to a ping or a refused request, are dropped.
    pub unread_bytes: usize,
    /// Notifications of the peer that wait for the handler. Beyond this limit, a notification that equals a waiting one
    /// is merged with it, and any other is dropped with a warning. Receiving never waits for a handler.
    pub notifications: usize,
    /// Bytes of JSON of the waiting notifications.
    pub notification_bytes: usize,
    /// Subscriptions of the peer by a request for changes. Each such request lasts until one of the sides ends it.
    pub subscriptions: usize,
    /// Bytes of the URIs of the resources that the peer has subscribed to.
    pub subscription_bytes: usize,
    /// Pages that are read of one of the peer's lists.
    pub pages: usize,
    /// The number of times a request is repeated with input responses: by a client, and by a server whose handler
    /// returns input requests for a client of the era with a handshake.
    pub rounds: usize,
    /// Bytes of the sealed state of a request, which contains the input responses of all earlier rounds.
    pub state_bytes: usize,
    /// The timeout of the discovery that probes a server's era. A server that doesn't respond in time is taken for one
    /// with a handshake. If no revision with a handshake is supported, [`Self::call_timeout`] applies instead.
    pub probe_timeout: Duration,
    /// The timeout of a call. Progress restarts it, if the call requested progress.
    pub call_timeout: Duration,
    /// The timeout of a call even if it reports progress.
    pub call_timeout_max: Duration,
    /// The time that requests in flight have to finish when the session is closed.
    pub close_timeout: Duration,
}

impl Options {
    /// Returns the latest supported revision of an era.
    pub(crate) fn latest(&self, era: Era) -> Option<Revision> {
        let is_excluded = self.era.is_some_and(|only| only != era);
        let revisions = self.supported.iter().copied().filter(|_| !is_excluded);
        revisions.filter(|revision| Era::of(*revision) == era).max()
    }

    /// Returns the revision to use with a stateless server that supports several: the preferred one, or else that of the
    /// hub's types, which needs no conversion, or else the latest.
    pub(crate) fn stateless(&self, preferred: Option<Revision>) -> Option<Revision> {
        let latest = self.latest(Era::Stateless)?;
        let is_usable = |revision: &Revision| Era::of(*revision) == Era::Stateless && self.supported.contains(revision);
        let mut lossless = preferred.into_iter().chain([Revision::HUB]);
        Some(lossless.find(is_usable).unwrap_or(latest))
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
            probe_timeout: Duration::from_secs(10),
            call_timeout: Duration::from_secs(60),
            call_timeout_max: Duration::from_secs(600),
            close_timeout: Duration::from_secs(5),
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
