//! What the programs print: an array of JSON, with a number for each case and each way to hold it.

use serde::Serialize;

use crate::inputs::Case;
use crate::libraries::{Library, subject};
use crate::subject::{Failure, Subject};

/// One number.
#[derive(Debug, Serialize)]
pub struct Cell {
    /// The table that it is in.
    pub table: &'static str,
    /// Its row: a case.
    pub row: &'static str,
    /// Its column: what was measured.
    pub column: &'static str,
    /// The number.
    pub value: f64,
}

/// The cells of one table; `row` measures all libraries that hold a case, and yields a number for each.
///
/// # Errors
/// When a library can't hold a case.
pub fn measure(table: &'static str, row: impl Fn(&[Box<dyn Subject>]) -> Vec<f64>) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for case in Case::ALL {
        let libraries = Library::of(case);
        let subjects = libraries.iter().map(|library| subject(case, *library));
        let subjects = subjects.collect::<Result<Vec<_>, _>>()?;
        cells.extend(libraries.iter().zip(row(&subjects)).map(|(library, value)| Cell {
            table,
            row: case.name(),
            column: library.name(),
            value,
        }));
    }
    Ok(cells)
}

/// Prints the cells.
///
/// # Errors
/// When nobody reads.
pub fn print(cells: &[Cell]) -> Result<(), Failure> {
    Ok(serde_json::to_writer(std::io::stdout().lock(), cells)?)
}
