//! The time that counts for timeouts.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::sender::DynSender;
use super::state::SessionState;
use crate::side::Side;

/// Counts the time since it was made, without the time that the transport has waited for its user.
pub struct Clock<'s> {
    sender: &'s dyn DynSender,
    started: Instant,
    suspended: Duration,
}

impl<S: Side> SessionState<S> {
    /// A clock that begins now.
    pub fn clock(&self) -> Clock<'_> {
        let sender = &*self.sender;
        Clock {
            sender,
            started: Instant::now(),
            suspended: sender.suspended(),
        }
    }
}

impl Clock<'_> {
    /// The time that has passed.
    pub fn elapsed(&self) -> Duration {
        let suspended = self.sender.suspended().saturating_sub(self.suspended);
        self.started.elapsed().saturating_sub(suspended)
    }

    /// Waits until so much more time has passed.
    pub async fn sleep(&self, time: Duration) {
        let end = self.elapsed().saturating_add(time);
        loop {
            let left = end.saturating_sub(self.elapsed());
            if left.is_zero() {
                return;
            }
            sleep(left).await;
        }
    }
}
