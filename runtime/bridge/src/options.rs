//! The options of a bridge.

use std::time::Duration;

use mcp_adapters::Revision;
use mcp_runtime_core::{Limits, LossObserver, Options};

/// The options and limits of a bridge.
#[derive(Clone)]
pub struct BridgeOptions {
    /// The supported revisions for clients. By default, all released ones.
    pub clients: Vec<Revision>,
    /// The supported revisions for the server. By default, all released ones. The bridge requests the revision of the
    /// client first.
    pub server: Vec<Revision>,
    /// Receives the losses of translated messages, with their method. Without an observer, they are logged with
    /// `tracing`.
    pub losses: Option<LossObserver>,
    /// The maximum number of simultaneous sessions with the server. Clients of one revision share the session with a
    /// stateless server. When the limit is reached, the session that has been idle longest ends, among those of the
    /// clients with the most sessions.
    pub server_sessions: usize,
    /// How long a client waits for a session with the server. This includes the start of the server, a login of the
    /// user, and the response to the request that starts the session. After that, the client gets an error.
    pub connect_timeout: Duration,
    /// How long a session with the server is kept after its last client, if another client can use it.
    pub idle: Duration,
    /// The maximum number of suspended calls: calls of stateless clients that wait for the client's answer to an input
    /// request of a server with sessions. One client can have an eighth of them. Beyond this limit, a call is cancelled
    /// and gets an error instead.
    pub suspended_calls: usize,
    /// How long a suspended call waits, and how long an input request waits for a call whose result can carry it.
    pub suspension_timeout: Duration,
    /// The maximum number of tasks of clients whose revision has tasks in another form than the server's. One client
    /// can have an eighth of them: beyond that, its task that ended first is removed.
    pub tasks: usize,
    /// Whether a server that ends is restarted, after a delay that doubles from a tenth of a second to half a minute. Calls in
    /// flight get an error in any case.
    pub restart: bool,
    /// How long requests in flight can take to finish once one of the sides has ended.
    pub close_timeout: Duration,
}

impl Default for BridgeOptions {
    /// All released revisions, 1,024 sessions with the server, which must start within a minute and end after 5 idle
    /// minutes, 1,024 suspended calls for 10 minutes each, and 1,024 tasks.
    fn default() -> Self {
        let Options { supported, limits, .. } = Options::default();
        Self {
            clients: supported.clone(),
            server: supported,
            losses: None,
            server_sessions: 1024,
            connect_timeout: limits.call_timeout,
            idle: Duration::from_secs(300),
            suspended_calls: 1024,
            suspension_timeout: Duration::from_secs(600),
            tasks: 1024,
            restart: false,
            close_timeout: limits.close_timeout,
        }
    }
}

impl BridgeOptions {
    /// How long a session can take to end: a second more than its requests.
    pub(super) fn ending(&self) -> Duration {
        self.close_timeout.saturating_add(Duration::from_secs(1))
    }

    /// The options of a session with the server.
    pub(super) fn of_sessions(&self) -> Options {
        Options {
            supported: self.server.clone(),
            losses: self.losses.clone(),
            limits: Limits {
                // Suspended calls, however many, must not use up the limit for other requests.
                in_flight: self.suspended_calls.saturating_add(1024),
                // The peer that waits for the response sets the timeout.
                call_timeout: Duration::MAX,
                call_timeout_max: Duration::MAX,
                close_timeout: self.close_timeout,
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

/// Returns the delay after a number of consecutive failures: a tenth of a second, doubled up to half a minute.
pub fn delay_after(failures: u32) -> Duration {
    let doubled = Duration::from_millis(100 << failures.saturating_sub(1).min(9));
    doubled.min(Duration::from_secs(30))
}
