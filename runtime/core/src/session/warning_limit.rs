//! A limit on the frequency of a warning, so that a peer can't flood our log.

use std::time::Duration;

use mcp_runtime_util::{Moment, Mutex};

/// The minimum time between two warnings.
const QUIET: Duration = Duration::from_secs(10);

/// A limit on the frequency of one kind of warning.
#[derive(Debug, Default)]
pub struct WarningLimit(Mutex<Warned>);

#[derive(Debug, Default)]
struct Warned {
    last: Option<Moment>,
    /// The number of suppressed warnings since then.
    suppressed: u64,
}

impl WarningLimit {
    /// Returns the number of warnings that were suppressed since the last one, if it is time for another.
    pub fn suppressed(&self) -> Option<u64> {
        let mut warned = self.0.lock();
        if warned.last.is_some_and(|last| last.elapsed() < QUIET) {
            warned.suppressed += 1;
            return None;
        }
        warned.last = Some(Moment::now());
        Some(std::mem::take(&mut warned.suppressed))
    }
}
