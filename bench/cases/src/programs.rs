//! The main functions of the measuring programs. Each crate passes its libraries for each case.

use std::alloc::System;
use std::hint::black_box;

use stats_alloc::{Region, StatsAlloc};

use crate::subject::{Failure, Subject};
use crate::table::{self, Row};
use crate::turns;

/// Prints the time of each library to decode or to encode, as a ratio to the first one of its row in the same run. The
/// first command line argument is `decode` or `encode`.
///
/// # Errors
/// If the argument is missing or another one, a case can't be decoded, or the output can't be written.
pub fn ratios(rows: &[Row]) -> Result<(), Failure> {
    let cells = match std::env::args().nth(1).as_deref() {
        Some("decode") => table::measure("decode", rows, |subjects| times(subjects, |subject| subject.decode())),
        Some("encode") => table::measure("encode", rows, |subjects| {
            times(subjects, |subject| drop(black_box(subject.encode())))
        }),
        _ => Err("expected `decode` or `encode`".into()),
    };
    table::print(&cells?)
}

fn times(subjects: &[Box<dyn Subject>], action: impl Fn(&dyn Subject)) -> Vec<f64> {
    let actions: Vec<_> = subjects.iter().map(|subject| || action(&**subject)).collect();
    let actions: Vec<&dyn Fn()> = actions.iter().map(|action| action as &dyn Fn()).collect();
    turns::ratios(&actions)
}

/// Prints how often each library allocates, as counted by the program's allocator.
///
/// # Errors
/// If a case can't be decoded, or the output can't be written.
pub fn allocations(rows: &[Row], allocator: &StatsAlloc<System>) -> Result<(), Failure> {
    let counts = |subjects: &[Box<dyn Subject>], action: fn(&dyn Subject)| {
        let count = |subject: &dyn Subject| {
            let region = Region::new(allocator);
            action(subject);
            let counted = region.change();
            (counted.allocations + counted.reallocations) as f64
        };
        subjects.iter().map(|subject| count(&**subject)).collect()
    };
    let mut cells = table::measure("decode", rows, |subjects| counts(subjects, |subject| subject.decode()))?;
    cells.extend(table::measure("encode", rows, |subjects| {
        counts(subjects, |subject| drop(subject.encode()))
    })?);
    table::print(&cells)
}

/// Decodes the case that the first argument names with the library that the second names, once. It is run under
/// callgrind, which counts the instructions of `measured`.
///
/// # Errors
/// If there is no such case, no such library for it, or the library can't decode it.
pub fn decode_once(rows: &[Row]) -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (case, library) = (arguments.next(), arguments.next());
    let row = rows.iter().find(|row| Some(row.case.name()) == case.as_deref());
    let Some(row) = row else {
        let cases: Vec<&str> = rows.iter().map(|row| row.case.name()).collect();
        return Err(format!("name one of {cases:?}").into());
    };
    let subject = row.subjects.iter().find(|(name, _)| Some(*name) == library.as_deref());
    let Some((_, make)) = subject else {
        let libraries: Vec<&str> = row.subjects.iter().map(|(name, _)| *name).collect();
        return Err(format!("name one of {libraries:?}").into());
    };
    measured(&*make()?);
    Ok(())
}

#[inline(never)]
fn measured(subject: &dyn Subject) {
    subject.decode();
}
