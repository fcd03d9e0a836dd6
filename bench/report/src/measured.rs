//! The measured numbers.

use serde::{Deserialize, Serialize};

use crate::machine::Machine;

/// One number of one run, as the measuring programs print it.
#[derive(Debug, Clone, Deserialize)]
pub struct Cell {
    pub table: String,
    pub row: String,
    pub column: String,
    pub value: f64,
}

impl Cell {
    pub fn new(table: &str, row: &str, column: &str, value: f64) -> Self {
        Self {
            table: table.to_owned(),
            row: row.to_owned(),
            column: column.to_owned(),
            value,
        }
    }
}

/// The measured numbers of a part, and the machine.
#[derive(Debug, Serialize, Deserialize)]
pub struct Measured {
    pub machine: Machine,
    pub numbers: Vec<Number>,
}

/// The values of a table's cell in all runs.
#[derive(Debug, Serialize, Deserialize)]
pub struct Number {
    pub table: String,
    pub row: String,
    pub column: String,
    pub runs: Vec<f64>,
}

impl Number {
    /// Returns the mean of all runs.
    pub fn mean(&self) -> f64 {
        mean(&self.runs)
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

    /// Returns the number in a cell of a table.
    pub fn at(&self, table: &str, row: &str, column: &str) -> Option<&Number> {
        let is_it = |number: &&Number| number.table == table && number.row == row && number.column == column;
        self.numbers.iter().find(is_it)
    }

    /// Returns the rows of a table, in order.
    pub fn rows(&self, table: &str) -> Vec<&str> {
        self.names(table, |number| &number.row)
    }

    /// Returns the columns of a table, in order.
    pub fn columns(&self, table: &str) -> Vec<&str> {
        self.names(table, |number| &number.column)
    }

    /// Returns the tables, in order.
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

/// Formats a number with its significant digits.
pub fn shown(number: f64) -> String {
    match number.abs() {
        size if size >= 1000.0 => {
            let whole = format!("{number:.0}");
            let (head, tail) = whole.split_at(whole.len() - 3);
            match head.len() {
                0..=3 => format!("{head},{tail}"),
                _ => format!("{},{},{tail}", &head[..head.len() - 3], &head[head.len() - 3..]),
            }
        }
        size if size >= 100.0 || number.fract() == 0.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size < 0.1 => format!("{number:.3}"),
        _ => format!("{number:.2}"),
    }
}
