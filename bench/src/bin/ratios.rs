//! Prints how long each library takes to decode or to encode, as a ratio to `serde_json::Value` in the same run.

use std::hint::black_box;

use mcp_bench::{Failure, Subject, table, turns};

fn main() -> Result<(), Failure> {
    let cells = match std::env::args().nth(1).as_deref() {
        Some("decode") => table::measure("decode", |subjects| ratios(subjects, |subject| subject.decode())),
        Some("encode") => table::measure("encode", |subjects| {
            ratios(subjects, |subject| drop(black_box(subject.encode())))
        }),
        _ => Err("name what to measure: decode or encode".into()),
    };
    table::print(&cells?)
}

fn ratios(subjects: &[Box<dyn Subject>], action: impl Fn(&dyn Subject)) -> Vec<f64> {
    let actions: Vec<_> = subjects.iter().map(|subject| || action(&**subject)).collect();
    let actions: Vec<&dyn Fn()> = actions.iter().map(|action| action as &dyn Fn()).collect();
    turns::ratios(&actions)
}
