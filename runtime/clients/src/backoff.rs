//! The backoff between attempts to connect.

use std::time::Duration;

/// The number of attempts to connect, and the delays between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backoff {
    /// The maximum number of attempts to connect for one call, at least 1.
    pub attempts: u32,
    /// The delay after the first failure. It doubles with each further one.
    pub delay: Duration,
    /// The maximum delay.
    pub at_most: Duration,
}

impl Default for Backoff {
    /// 5 attempts, with delays from a tenth of a second to half a minute.
    fn default() -> Self {
        Self {
            attempts: 5,
            delay: Duration::from_millis(100),
            at_most: Duration::from_secs(30),
        }
    }
}

impl Backoff {
    /// Sets the number of attempts.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// Sets the first delay and the maximum one.
    #[must_use]
    pub fn delay(mut self, delay: Duration, at_most: Duration) -> Self {
        (self.delay, self.at_most) = (delay, at_most);
        self
    }

    /// Returns the delay after a number of consecutive failures.
    #[must_use]
    pub fn after(&self, failures: u32) -> Duration {
        let doubled = self.delay.saturating_mul(1 << failures.saturating_sub(1).min(16));
        doubled.min(self.at_most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_doubles_up_to_its_maximum() {
        let backoff = Backoff::default().delay(Duration::from_secs(1), Duration::from_secs(5));
        let seconds: Vec<_> = (1..=5).map(|failures| backoff.after(failures).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 5, 5]);
        assert_eq!(backoff.after(u32::MAX).as_secs(), 5);
    }
}
