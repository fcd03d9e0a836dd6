//! The time that is spent waiting.

use std::time::Duration;

use mcp_runtime_util::Mutex;
use tokio::time::Instant;

/// Counts the time while anybody waits.
#[derive(Debug, Default)]
pub struct WaitingTime(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Until now.
    total: Duration,
    /// How many wait, and since when anybody does.
    waiting: Option<(usize, Instant)>,
}

impl WaitingTime {
    /// The time until now.
    pub fn total(&self) -> Duration {
        let state = self.0.lock();
        state.total + state.waiting.map_or(Duration::ZERO, |(_, since)| since.elapsed())
    }

    /// Somebody waits until this is dropped.
    pub fn begin(&self) -> Waiting<'_> {
        let mut state = self.0.lock();
        state.waiting.get_or_insert_with(|| (0, Instant::now())).0 += 1;
        Waiting(self)
    }
}

/// Somebody who waits.
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
