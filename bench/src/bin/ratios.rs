//! Prints how long each library takes, as a ratio to `serde_json::Value` in the same run.
//!
//! The libraries take turns, so that a machine that slows down slows down all of them, and of each the shortest turn
//! counts: the one in which nothing else ran.

use std::hint::black_box;
use std::time::{Duration, Instant};

use mcp_bench::{Failure, Subject, table};

const ROUNDS: usize = 400;
/// What one turn of `Value` is to take: long against the clock's steps, short against other programs' turns.
const TURN: Duration = Duration::from_millis(1);

fn main() -> Result<(), Failure> {
    table::print("decode", |subjects| ratios(subjects, |subject| subject.decode()))?;
    table::print("encode", |subjects| {
        ratios(subjects, |subject| drop(black_box(subject.encode())))
    })
}

/// Each subject's shortest turn, as a ratio to the first one's.
fn ratios(subjects: &[Box<dyn Subject>], action: impl Fn(&dyn Subject)) -> Vec<String> {
    let times = repetitions(|| subjects.iter().take(1).for_each(|subject| action(&**subject)));
    let mut shortest = vec![Duration::MAX; subjects.len()];
    for _ in 0..ROUNDS {
        for (shortest, subject) in shortest.iter_mut().zip(subjects) {
            *shortest = repeat(times, || action(&**subject)).min(*shortest);
        }
    }
    shortest
        .iter()
        .map(|turn| format!("{:.2}", turn.as_secs_f64() / shortest[0].as_secs_f64()))
        .collect()
}

/// How often the action fits into a turn.
fn repetitions(action: impl Fn()) -> u32 {
    let mut times = 1;
    while repeat(times, &action) < TURN {
        times *= 2;
    }
    times
}

fn repeat(times: u32, action: impl Fn()) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        action();
    }
    start.elapsed()
}
