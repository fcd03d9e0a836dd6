//! The times at which a client uses its session.

use std::sync::atomic::{AtomicBool, Ordering};

use mcp_runtime_util::Mutex;
use tokio::time::{Duration, Instant};

/// The times at which a client uses its session. They determine when the session expires, and which session ends to
/// make room for another.
#[derive(Debug)]
pub(crate) struct Usage {
    started: Instant,
    last: Mutex<Instant>,
    confirmed: AtomicBool,
}

impl Usage {
    /// The usage of a session that starts now.
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            started: now,
            last: Mutex::new(now),
            confirmed: AtomicBool::new(false),
        }
    }

    /// Records that the client uses the session now.
    pub(crate) fn touch(&self) {
        *self.last.lock() = Instant::now();
    }

    /// Records that the client uses the session now, and has sent something after `initialize`.
    pub(crate) fn confirm(&self) {
        self.confirmed.store(true, Ordering::Relaxed);
        self.touch();
    }

    /// Whether the client has sent something after `initialize`.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.confirmed.load(Ordering::Relaxed)
    }

    /// The time at which the client last used the session.
    pub(crate) fn last(&self) -> Instant {
        *self.last.lock()
    }

    /// The time at which the session expires unless its client uses it.
    pub(crate) fn expires(&self, initialize_timeout: Duration, expiry: Duration) -> Instant {
        match self.is_confirmed() {
            true => self.last() + expiry,
            false => self.started + initialize_timeout,
        }
    }
}
