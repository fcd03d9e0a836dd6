//! A counter of waiting time.

use std::time::Duration;

use mcp_runtime_util::Mutex;
use tokio::time::Instant;

/// Counts the time during which at least one request waits.
#[derive(Debug, Default)]
pub struct WaitingTime(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The time of finished periods of waiting.
    total: Duration,
    /// The number of waiting requests, and the start of the current period.
    waiting: Option<(usize, Instant)>,
}

impl WaitingTime {
    /// The total time until now.
    pub fn total(&self) -> Duration {
        let state = self.0.lock();
        state.total + state.waiting.map_or(Duration::ZERO, |(_, since)| since.elapsed())
    }

    /// Starts waiting, until the returned value is dropped.
    pub fn begin(&self) -> Waiting<'_> {
        let mut state = self.0.lock();
        state.waiting.get_or_insert_with(|| (0, Instant::now())).0 += 1;
        Waiting(self)
    }
}

/// A waiting request.
pub struct Waiting<'a>(&'a WaitingTime);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        state.waiting = match state.waiting {
            Some((count, since)) if count > 1 => Some((count - 1, since)),
            Some((_, since)) => {
                state.total += since.elapsed();
                None
            }
            None => None,
        };
    }
}
