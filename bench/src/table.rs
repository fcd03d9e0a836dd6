//! Printing what was measured: a row for each case, a column for each library.

use crate::inputs::Case;
use crate::libraries::{Library, subject};
use crate::subject::{Failure, Subject};

/// Prints one table; `row` measures all libraries at one case, and yields a cell for each.
///
/// # Errors
/// When a library can't hold a case.
pub fn print(title: &str, row: impl Fn(&[Box<dyn Subject>]) -> Vec<String>) -> Result<(), Failure> {
    println!("\n| {title} | {} |", Library::ALL.map(Library::name).join(" | "));
    println!("|---{}|", "|--:".repeat(Library::ALL.len()));
    for case in Case::ALL {
        let subjects = Library::ALL.map(|library| subject(case, library));
        let subjects = subjects.into_iter().collect::<Result<Vec<_>, _>>()?;
        println!("| {} | {} |", case.name(), row(&subjects).join(" | "));
    }
    Ok(())
}
