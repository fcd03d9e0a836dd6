//! The limits of one session.

use std::time::Duration;

/// The limits of one session and its streams. [`HttpServer`](super::HttpServer) documents each.
#[derive(Debug, Clone)]
pub(super) struct SessionLimits {
    pub(super) capacity: usize,
    pub(super) max_in_flight: usize,
    pub(super) session_bytes: usize,
    pub(super) replay_events: usize,
    pub(super) replay_bytes: usize,
    pub(super) keep_alive: Duration,
    pub(super) retry: Duration,
    pub(super) stream_after: Duration,
    pub(super) stall: Duration,
}
