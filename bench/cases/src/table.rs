//! Tables of numbers. The programs print them as a JSON array with an entry for each case and library.

use serde::Serialize;

use crate::inputs::Case;
use crate::subject::{Failure, Subject};

/// A case, and the libraries that are compared, by the names of their columns. The first is the reference for the
/// others.
pub struct Row {
    /// The case.
    pub case: Case,
    /// The names of the libraries, and functions that make their subjects.
    pub subjects: Vec<(&'static str, Make)>,
}

/// Makes a subject, which decodes its case. It is called right before the measurement, because earlier allocations
/// affect the numbers.
pub type Make = Box<dyn Fn() -> Result<Box<dyn Subject>, Failure>>;

/// One measured number.
#[derive(Debug, Serialize)]
pub struct Cell {
    /// Its table.
    pub table: &'static str,
    /// Its row: a case.
    pub row: &'static str,
    /// Its column, such as a library.
    pub column: &'static str,
    /// The number.
    pub value: f64,
}

/// Measures the cells of one table. `measured` returns a number for each subject of a row.
///
/// # Errors
/// If a case can't be decoded.
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

/// Prints the cells as JSON.
///
/// # Errors
/// If the output can't be written.
pub fn print(cells: &[Cell]) -> Result<(), Failure> {
    Ok(serde_json::to_writer(std::io::stdout().lock(), cells)?)
}
