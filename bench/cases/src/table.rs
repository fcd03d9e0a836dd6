//! What is measured, and what the programs print: an array of JSON, with a number for each case and each way to hold it.

use serde::Serialize;

use crate::inputs::Case;
use crate::subject::{Failure, Subject};

/// A case, and the ways to hold it that are compared, by the names of their columns. The others are compared to the first.
pub struct Row {
    /// The case.
    pub case: Case,
    /// The ways to hold it.
    pub subjects: Vec<(&'static str, Make)>,
}

/// Decodes a case for the first time. It is done when it is about to be measured, since what was allocated before has an effect.
pub type Make = Box<dyn Fn() -> Result<Box<dyn Subject>, Failure>>;

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

/// The cells of one table; `measured` yields a number for each subject of a row.
///
/// # Errors
/// When a case can't be decoded.
pub fn measure(
    table: &'static str,
    rows: &[Row],
    measured: impl Fn(&[Box<dyn Subject>]) -> Vec<f64>,
) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for row in rows {
        let subjects = row.subjects.iter().map(|(_, make)| make());
        let subjects = subjects.collect::<Result<Vec<_>, _>>()?;
        let columns = row.subjects.iter().map(|(column, _)| *column);
        cells.extend(columns.zip(measured(&subjects)).map(|(column, value)| Cell {
            table,
            row: row.case.name(),
            column,
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
