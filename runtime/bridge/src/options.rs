//! The options of a bridge.

use std::time::Duration;

use mcp_adapters::Revision;
use mcp_runtime_core::{Limits, LossObserver, Options};

/// The options and limits of a bridge.
#[derive(Clone)]
pub struct BridgeOptions {
    /// The revisions to speak with clients. By default, every released one.
    pub clients: Vec<Revision>,
    /// The revisions to speak with the server. By default, every released one. A server is asked for the revision of its client
    /// first.
    pub server: Vec<Revision>,
    /// Gets what messages lose on their way, with their method. `tracing` gets it too.
    pub losses: Option<LossObserver>,
    /// Sessions with the server at a time. Clients share those of a stateless server. Beyond this limit, the session ends that has been
    /// idle longest, of the clients with the most sessions.
    pub servers: usize,
    /// How long a client waits for a session with the server: for its start, a login of the user, and its answer to the request that begins the
    /// session. Then the client gets an error.
    pub connecting: Duration,
    /// How long a session with the server lasts after its last client, if it can be used again.
    pub idle: Duration,
    /// Calls of stateless clients that wait for answers to what a server with sessions asks. One client may have an eighth of them.
    /// Beyond this limit, a call is cancelled and gets an error instead.
    pub parked: usize,
    /// How long they wait, and how long a question waits for a call that can carry it.
    pub parked_for: Duration,
    /// Tasks of clients whose revision has them in another form than the server's. One client may have an eighth of them: beyond this limit, the
    /// one that ended first is forgotten.
    pub tasks: usize,
    /// Whether a server that ends is restarted, after a delay that doubles from a tenth of a second to half a minute. Calls in
    /// flight get an error in any case.
    pub restart: bool,
    /// The time that requests in flight have when one of the sides ends.
    pub closing: Duration,
}

impl Default for BridgeOptions {
    /// Every released revision, 1,024 sessions with the server, which begin within a minute and end after 5 minutes, 1,024 calls that wait for
    /// 10 minutes, and 1,024 tasks.
    fn default() -> Self {
        let Options { supported, limits, .. } = Options::default();
        Self {
            clients: supported.clone(),
            server: supported,
            losses: None,
            servers: 1024,
            connecting: limits.answer,
            idle: Duration::from_secs(300),
            parked: 1024,
            parked_for: Duration::from_secs(600),
            tasks: 1024,
            restart: false,
            closing: limits.closing,
        }
    }
}

impl BridgeOptions {
    /// How long a session may take to end: a second more than its requests.
    pub(super) fn ending(&self) -> Duration {
        self.closing + Duration::from_secs(1)
    }

    /// The options of a session with the server.
    pub(super) fn of_sessions(&self) -> Options {
        Options {
            supported: self.server.clone(),
            losses: self.losses.clone(),
            limits: Limits {
                // Requests wait only for their turns, however many calls are suspended.
                in_flight: self.parked.saturating_add(1024),
                // The peer that waits for an answer decides how long.
                answer: Duration::MAX,
                answer_at_most: Duration::MAX,
                closing: self.closing,
                ..Limits::default()
            },
            ..Options::default()
        }
    }

    /// The options of a session with a client.
    pub(super) fn of_clients(&self) -> Options {
        Options {
            supported: self.clients.clone(),
            ..self.of_sessions()
        }
    }
}

/// How long to wait after so many failures in a row: from a tenth of a second, which doubles, to half a minute.
pub fn delay_after(failures: u32) -> Duration {
    let doubled = Duration::from_millis(100 << failures.saturating_sub(1).min(9));
    doubled.min(Duration::from_secs(30))
}
