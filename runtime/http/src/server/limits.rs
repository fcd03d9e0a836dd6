//! The limits of one session.

use std::time::Duration;

/// The limits of one session and its streams. [`HttpServer`](super::HttpServer) documents each.
#[derive(Debug, Clone)]
pub(crate) struct SessionLimits {
    pub(crate) capacity: usize,
    pub(crate) max_in_flight: usize,
    pub(crate) session_bytes: usize,
    pub(crate) replay_events: usize,
    pub(crate) replay_bytes: usize,
    pub(crate) keep_alive: Duration,
    pub(crate) retry: Duration,
    pub(crate) stream_after: Duration,
    pub(crate) stall_timeout: Duration,
}
