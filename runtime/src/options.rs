//! What a session may do, and for how long.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::mcp_wire::Invalid;
use mcp_adapters::{Loss, Revision};

/// Is told of everything that a conversion loses: the method, and what of its message or result.
pub type LossObserver = Arc<dyn Fn(&str, &[Loss]) + Send + Sync>;

/// Is told of what a peer sent that departs from its revision's schema: the method, and every fault of its message or
/// result.
pub type FaultObserver = Arc<dyn Fn(&str, &Invalid) + Send + Sync>;

/// What becomes of what a peer sends if it can be read and still departs from the schema of the peer's revision.
///
/// What counts is that revision's official schema, as corrected by the overlay that the type crates are generated from,
/// with the parameters and results as they came, before any conversion. Members that the schema doesn't declare are no
/// fault unless it forbids them, and methods that it doesn't declare aren't judged. What can't be read at all is refused
/// either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reading {
    /// It is taken for what it seems to mean. So are answers that can't be read and that most peers put up with: an id
    /// that is the request's number as a string, `null` beside the result or the error, and what
    /// [`Revision::tolerances`] has. `tracing` is told of it, at the level of debugging, and
    /// [`Options::faults`]; where neither listens, nothing is judged.
    #[default]
    Tolerant,
    /// A request is answered with an error that names the faults, a notification is dropped, and a result is
    /// [`CallError::InvalidResult`](crate::CallError::InvalidResult) to its caller. `tracing` and [`Options::faults`] are
    /// told of it.
    Strict,
}

/// How a session goes about it.
#[derive(Clone)]
pub struct Options {
    /// The revisions that may be negotiated: every released one, unless told otherwise. Those whose sessions don't begin
    /// with `initialize` never are.
    pub supported: Vec<Revision>,
    /// Bounds.
    pub limits: Limits,
    /// Whom to tell of losses, besides `tracing`.
    pub losses: Option<LossObserver>,
    /// What becomes of what a peer sends and shouldn't.
    pub reading: Reading,
    /// Whom to tell of that, besides `tracing`. Each message is judged for it, which takes longer than reading it does.
    pub faults: Option<FaultObserver>,
}

/// How many messages a batch may have, unless told otherwise.
pub(crate) const BATCH: usize = 1000;

/// Bounds of a session.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many requests of the peer are handled at a time.
    pub in_flight: usize,
    /// How many more may wait; beyond them a request is answered with an error at once.
    pub waiting: usize,
    /// How many bytes the requests of the peer that are handled or wait may have, as JSON; beyond them a request is
    /// answered with an error at once. Here and below, 512 bytes are added for each.
    pub request_bytes: usize,
    /// How many messages a batch may have; one with more is refused as a whole. The HTTP server never takes more than
    /// 1,000.
    pub batch: usize,
    /// How many bytes the parameters of `initialize` may have, as JSON: what the peer says about itself is kept as long as
    /// the session lasts.
    pub initialize_bytes: usize,
    /// How many bytes the answers may have that the peer hasn't read. Beyond them no further request is handled until it
    /// reads, and what would be answered at once, such as a ping or a request that is refused, is not answered.
    pub unread_bytes: usize,
    /// How many notifications of the peer may wait to be heard. Beyond them, one that is the same as one that waits is
    /// heard together with it, and any other is dropped, of which `tracing` is told: receiving never waits for a handler.
    pub notifications: usize,
    /// How many bytes those that wait may have, as JSON.
    pub notification_bytes: usize,
    /// How many pages a list of the peer may have.
    pub pages: usize,
    /// How long to wait for an answer; progress begins the wait anew.
    pub answer: Duration,
    /// How long to wait for an answer whatever progress is made.
    pub answer_at_most: Duration,
    /// How long to wait for what is in flight when the session is closed.
    pub closing: Duration,
}

impl Options {
    /// The same, without the revisions that can't be negotiated.
    pub(crate) fn negotiable(mut self) -> Self {
        self.supported.retain(|revision| revision.facts().initializes);
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            supported: Revision::ALL
                .into_iter()
                .filter(|revision| revision.facts().released)
                .collect(),
            limits: Limits::default(),
            losses: None,
            reading: Reading::default(),
            faults: None,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_flight: 64,
            waiting: 1024,
            request_bytes: 32 << 20,
            batch: BATCH,
            initialize_bytes: 256 << 10,
            unread_bytes: 64 << 20,
            notifications: 256,
            notification_bytes: 4 << 20,
            pages: 10_000,
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
            .field("reading", &self.reading)
            .finish_non_exhaustive()
    }
}
