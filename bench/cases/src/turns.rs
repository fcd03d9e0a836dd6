//! Timing on a machine where other programs run too.
//!
//! What is compared takes turns, so that a machine that slows down slows down all of it, and of each the shortest turn
//! counts: the one in which nothing else ran.

use std::time::{Duration, Instant};

const ROUNDS: usize = 400;
/// What one turn of the first action is to take: long against the clock's steps, short against other programs' turns.
const TURN: Duration = Duration::from_millis(1);

/// Each action's shortest turn, as a ratio to the first one's.
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

/// How often the action fits into a turn.
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
