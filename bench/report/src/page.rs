//! Generation of docs/benchmarks.md and its charts from the stored numbers.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;

use crate::chart;
use crate::machine::Machine;
use crate::measured::{Measured, Number, shown};
use crate::parts::Part;
use crate::store;

const INTRODUCTION: &str = "\
# Benchmarks

Written by `cargo xtask bench` from the numbers in `docs/benchmarks`; `cargo xtask bench --only decode,hops` measures some parts again.

The machine is virtual and shared: other programs ran at the same time. The compared programs therefore take turns within a
run, and only the comparison is meaningful. Absolute numbers would be better on a dedicated machine. Each part was measured
several times: the tables have the means, and the lines below them state how far the runs differ.
";

/// Returns the generated files, by their paths below docs/.
pub fn files(docs: &Path) -> Result<Vec<(String, String)>> {
    let mut page = INTRODUCTION.to_owned();
    let mut files = Vec::new();
    for part in Part::ALL {
        let Some(measured) = store::read(docs, part)? else {
            continue;
        };
        write!(page, "\n## {}\n\n{}", part.title(), part.about())?;
        for table in measured.tables() {
            write!(page, "\n{}", as_markdown(&measured, table))?;
            if part.charts().contains(&table) {
                let path = format!("benchmarks/{}.svg", file_name(part, table));
                write!(page, "\n![{} as a bar chart]({path})\n", upper(table))?;
                files.push((path, chart::draw(&measured, table)?));
            }
        }
        write!(page, "\n{}", provenance(part, &measured))?;
    }
    files.push(("benchmarks.md".to_owned(), page));
    Ok(files)
}

fn as_markdown(measured: &Measured, table: &str) -> String {
    let columns = measured.columns(table);
    let mut lines = vec![
        format!("| {} | {} |", upper(table), columns.join(" | ")),
        format!("|---{}|", "|--:".repeat(columns.len())),
    ];
    for row in measured.rows(table) {
        let cell = |column: &&str| {
            measured
                .at(table, row, column)
                .map_or("–".to_owned(), |number| shown(number.mean()))
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        lines.push(format!("| {row} | {} |", cells.join(" | ")));
    }
    lines.join("\n") + "\n"
}

/// Describes how far the runs differ, and the command, machine and software with which the numbers were measured.
fn provenance(part: Part, measured: &Measured) -> String {
    let Machine {
        date,
        commit,
        cpu,
        cores,
        system,
        rustc,
        node,
        packages,
        nice,
        load,
    } = &measured.machine;
    let node = node.as_ref().map_or(String::new(), |node| format!(", node {node}"));
    let runs = measured
        .numbers
        .iter()
        .map(|number| number.runs.len())
        .max()
        .unwrap_or(0);
    let mut differences: Vec<f64> = measured.numbers.iter().map(difference).collect();
    differences.sort_by(f64::total_cmp);
    let (median, most) = (differences.get(differences.len() / 2), differences.last());
    let runs = match runs {
        1 => "One run.".to_owned(),
        _ => format!(
            "{runs} runs, which differ by {} % of their mean (median), and at most by {} %.",
            shown(median.copied().unwrap_or_default()),
            shown(most.copied().unwrap_or_default()),
        ),
    };
    format!(
        "{runs} Measured by `cargo xtask bench --only {}` on {date} at {commit}: {cpu}, {cores} \
         cores, {system}, load average {load}, nice {nice}; {rustc}{node}; {}.\n",
        part.name(),
        packages.join(", ")
    )
}

/// Returns the difference between the least and the largest value of the runs, in percent of their mean.
fn difference(number: &Number) -> f64 {
    let mean = number.mean();
    let (least, most) = number
        .runs
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), run| {
            (least.min(*run), most.max(*run))
        });
    if mean == 0.0 {
        0.0
    } else {
        (most - least) / mean.abs() * 100.0
    }
}

fn upper(text: &str) -> String {
    let mut rest = text.chars();
    rest.next()
        .map_or(String::new(), |first| first.to_uppercase().chain(rest).collect())
}

fn file_name(part: Part, table: &str) -> String {
    let is_one = table == part.name();
    let words = if is_one {
        part.name().to_owned()
    } else {
        format!("{} {table}", part.name())
    };
    let kept = words.chars().filter(|c| c.is_ascii_alphanumeric() || *c == ' ');
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
        .collect()
}
