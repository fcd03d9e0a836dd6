//! Timing on a machine that other programs share.
//!
//! The compared actions take turns, so that a slowdown of the machine affects all of them alike. The shortest turn of
//! each counts, because other programs disturbed it least.

use std::time::{Duration, Instant};

const ROUNDS: usize = 400;
/// The least duration of a turn of the first action: long compared with the clock's resolution, short compared with the
/// time slices of other programs.
const TURN: Duration = Duration::from_millis(1);

/// Returns each action's shortest turn, as a ratio to the first one's.
pub fn ratios(actions: &[&dyn Fn()]) -> Vec<f64> {
    let Some(first) = actions.first() else {
        return Vec::new();
    };
    let times = repetitions(first);
    let mut shortest = vec![Duration::MAX; actions.len()];
    for _ in 0..ROUNDS {
        for (shortest, action) in shortest.iter_mut().zip(actions) {
            *shortest = repeat(times, action).min(*shortest);
        }
    }
    let to_first = |turn: &Duration| turn.as_secs_f64() / shortest[0].as_secs_f64();
    shortest.iter().map(to_first).collect()
}

/// Returns the number of repetitions of an action in a turn.
fn repetitions(action: &dyn Fn()) -> u32 {
    let mut times = 1;
    while repeat(times, action) < TURN {
        times *= 2;
    }
    times
}

fn repeat(times: u32, action: &dyn Fn()) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        action();
    }
    start.elapsed()
}
