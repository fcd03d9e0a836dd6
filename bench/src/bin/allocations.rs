//! Prints how often each library allocates: a program of its own, because counting costs time.

use std::alloc::System;

use mcp_bench::{Failure, Subject, table};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> Result<(), Failure> {
    let mut cells = table::measure("decode", |subjects| counts(subjects, |subject| subject.decode()))?;
    cells.extend(table::measure("encode", |subjects| {
        counts(subjects, |subject| drop(subject.encode()))
    })?);
    table::print(&cells)
}

fn counts(subjects: &[Box<dyn Subject>], action: impl Fn(&dyn Subject)) -> Vec<f64> {
    let count = |subject: &dyn Subject| {
        let region = Region::new(COUNTED);
        action(subject);
        let counted = region.change();
        (counted.allocations + counted.reallocations) as f64
    };
    subjects.iter().map(|subject| count(&**subject)).collect()
}
