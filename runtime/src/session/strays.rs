//! Messages that can't be taken and can't be answered.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mcp_adapters::mcp_wire::ErrorObject;
use tokio::time::Instant;

use crate::excerpt::excerpt;

/// How long no other warning follows a warning: a peer that prints its log among its messages must not fill ours.
const QUIET: Duration = Duration::from_secs(10);

/// Tells tracing of messages that can't be taken and can't be answered.
#[derive(Debug, Default)]
pub struct Strays(Mutex<Warned>);

#[derive(Debug, Default)]
struct Warned {
    last: Option<Instant>,
    /// How many there were since then.
    silent: u64,
}

impl Strays {
    /// Warns, unless a warning has been given only just.
    pub fn report(&self, error: &ErrorObject, message: &[u8]) {
        let (reason, beginning) = (&error.message, excerpt(message));
        match self.silent() {
            Some(silent) => tracing::warn!(%reason, %beginning, silent, "ignored what the peer sent: it is no message"),
            None => tracing::debug!(%reason, %beginning, "ignored what the peer sent: it is no message"),
        }
    }

    /// How many weren't warned of since the last warning, if it is time for another.
    fn silent(&self) -> Option<u64> {
        // Nothing panics while the lock is held.
        let mut warned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.last.is_some_and(|last| last.elapsed() < QUIET) {
            warned.silent += 1;
            return None;
        }
        warned.last = Some(Instant::now());
        Some(std::mem::take(&mut warned.silent))
    }
}
