//! Prints how long each library takes, as a ratio to `serde_json::Value` in the same run.
//!
//! The libraries take turns, so that a machine that slows down slows down all of them, and the median over the rounds
//! is printed, so that a round in which something else ran doesn't count.

use std::hint::black_box;
use std::time::{Duration, Instant};

use mcp_bench::{Failure, Subject, table};

const ROUNDS: usize = 301;
/// What one turn of `Value` is to take: long against the clock's steps, short against other programs' turns.
const TURN: Duration = Duration::from_millis(2);

fn main() -> Result<(), Failure> {
    table::print("decode", |subjects| ratios(subjects, |subject| subject.decode()))?;
    table::print("encode", |subjects| {
        ratios(subjects, |subject| drop(black_box(subject.encode())))
    })
}

/// The median of each subject's ratios to the first one.
fn ratios(subjects: &[Box<dyn Subject>], action: impl Fn(&dyn Subject)) -> Vec<String> {
    let times = repetitions(|| subjects.iter().take(1).for_each(|subject| action(&**subject)));
    let mut ratios = vec![Vec::with_capacity(ROUNDS); subjects.len()];
    for _ in 0..ROUNDS {
        let took = subjects.iter().map(|subject| repeat(times, || action(&**subject)));
        let took: Vec<f64> = took.map(|took| took.as_secs_f64()).collect();
        for (ratios, took_one) in ratios.iter_mut().zip(&took) {
            ratios.push(took_one / took[0]);
        }
    }
    ratios
        .into_iter()
        .map(|ratios| format!("{:.2}", median(ratios)))
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

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
