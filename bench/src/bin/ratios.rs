//! Prints how long each library takes, as a ratio to `serde_json::Value` in the same run.

use std::hint::black_box;

use mcp_bench::{Failure, Subject, table, turns};

fn main() -> Result<(), Failure> {
    table::print("decode", |subjects| ratios(subjects, |subject| subject.decode()))?;
    table::print("encode", |subjects| {
        ratios(subjects, |subject| drop(black_box(subject.encode())))
    })
}

fn ratios(subjects: &[Box<dyn Subject>], action: impl Fn(&dyn Subject)) -> Vec<String> {
    let actions: Vec<_> = subjects.iter().map(|subject| || action(&**subject)).collect();
    let actions: Vec<&dyn Fn()> = actions.iter().map(|action| action as &dyn Fn()).collect();
    turns::ratios(&actions)
        .iter()
        .map(|ratio| format!("{ratio:.2}"))
        .collect()
}
