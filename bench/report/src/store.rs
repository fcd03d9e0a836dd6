//! The numbers of a part, kept as JSON.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::parts::Part;

/// One number of one run, as the measuring programs print it.
#[derive(Debug, Clone, Deserialize)]
pub struct Cell {
    pub table: String,
    pub row: String,
    pub column: String,
    pub value: f64,
}

/// What a part has measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct Measured {
    pub machine: Machine,
    pub numbers: Vec<Number>,
}

/// The same number of every run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Number {
    pub table: String,
    pub row: String,
    pub column: String,
    pub runs: Vec<f64>,
}

impl Number {
    /// The mean of all runs.
    pub fn mean(&self) -> f64 {
        mean(&self.runs)
    }

    /// The mean ratio to another number of the same run: what slows a run down slows down both.
    pub fn ratio(&self, to: &Self) -> f64 {
        let ratios: Vec<f64> = self.runs.iter().zip(&to.runs).map(|(run, to)| run / to).collect();
        mean(&ratios)
    }
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

impl Measured {
    /// Adds the numbers of a run.
    pub fn add(&mut self, run: Vec<Cell>) {
        for Cell {
            table,
            row,
            column,
            value,
        } in run
        {
            let is_it = |known: &&mut Number| known.table == table && known.row == row && known.column == column;
            match self.numbers.iter_mut().find(is_it) {
                Some(number) => number.runs.push(value),
                None => self.numbers.push(Number {
                    table,
                    row,
                    column,
                    runs: vec![value],
                }),
            }
        }
    }

    /// The number at a place.
    pub fn at(&self, table: &str, row: &str, column: &str) -> Option<&Number> {
        let is_it = |number: &&Number| number.table == table && number.row == row && number.column == column;
        self.numbers.iter().find(is_it)
    }

    /// The rows of a table, in order.
    pub fn rows(&self, table: &str) -> Vec<&str> {
        self.names(table, |number| &number.row)
    }

    /// The columns of a table, in order.
    pub fn columns(&self, table: &str) -> Vec<&str> {
        self.names(table, |number| &number.column)
    }

    /// The tables, in order.
    pub fn tables(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for number in &self.numbers {
            if !names.contains(&number.table.as_str()) {
                names.push(&number.table);
            }
        }
        names
    }

    fn names<'n>(&'n self, table: &str, name: fn(&'n Number) -> &'n str) -> Vec<&'n str> {
        let mut names = Vec::new();
        for number in self.numbers.iter().filter(|number| number.table == table) {
            if !names.contains(&name(number)) {
                names.push(name(number));
            }
        }
        names
    }
}

/// The numbers of a part, if it was measured.
pub fn read(docs: &Path, part: Part) -> Result<Option<Measured>> {
    let path = path(docs, part);
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path)?;
    let measured = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    Ok(Some(measured))
}

pub fn write(docs: &Path, part: Part, measured: &Measured) -> Result<()> {
    let path = path(docs, part);
    std::fs::create_dir_all(docs.join("benchmarks"))?;
    Ok(std::fs::write(path, serde_json::to_string_pretty(measured)? + "\n")?)
}

fn path(docs: &Path, part: Part) -> PathBuf {
    docs.join("benchmarks").join(format!("{}.json", part.name()))
}
