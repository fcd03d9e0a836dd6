//! The same programs written with this project and with rmcp: their lines, and the cost of rebuilding them.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result, ensure};

use crate::measured::Cell;
use crate::programs::{cargo, children};

/// The programs: the row, and the name. The name of the rmcp program has the prefix `rmcp-`.
const PROGRAMS: [(&str, &str); 14] = [
    ("server with five tools and a state", "tools"),
    ("server with a prompt and completion", "prompts"),
    ("server with a resource that changes", "resources"),
    ("server that asks the user and the model", "asks"),
    ("client that lists and calls", "lists"),
    ("client that answers questions", "answers"),
    ("server in an axum app, with a layer", "http"),
    ("test within the process", "in-process"),
    ("proxy of types alone", "proxy"),
    ("server with notes in SQLite", "notes"),
    ("gateway before several servers", "gateway"),
    ("client of the servers in a host's file", "hosts"),
    ("server that analyzes log files", "logs"),
    ("method and notification of a vendor", "custom-method"),
];

/// Counts the lines of each program, and rebuilds it after its dependencies have been built.
pub fn measure(bench: &Path) -> Result<Vec<Cell>> {
    build(bench, &["--bins"])?;
    let mut cells = Vec::new();
    for (row, name) in PROGRAMS {
        for (column, program) in [("ours", name.to_owned()), ("rmcp", format!("rmcp-{name}"))] {
            let path = bench.join(format!("pairs/src/bin/{program}.rs"));
            let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let touched = SystemTime::now();
            File::open(&path)?.set_modified(touched)?;
            let before = children()?;
            build(bench, &["--bin", &program])?;
            let cpu = children()? - before;
            let built = std::fs::metadata(bench.join("target/debug").join(&program))?.modified()?;
            ensure!(built >= touched, "{program} wasn't rebuilt");
            for (table, value) in [("lines", lines(&text)), ("CPU time of building it again, s", cpu)] {
                cells.push(Cell::new(table, row, column, value));
            }
        }
    }
    Ok(cells)
}

/// Returns the number of lines that are neither empty nor comments.
fn lines(text: &str) -> f64 {
    let lines = text.lines().map(str::trim_start);
    lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count() as f64
}

fn build(bench: &Path, which: &[&str]) -> Result<()> {
    let mut command = Command::new(cargo());
    command
        .current_dir(bench)
        .env("CARGO_INCREMENTAL", "0")
        .args(["build", "--quiet", "--package", "mcp-bench-pairs"])
        .args(which);
    ensure!(command.status()?.success(), "{which:?} doesn't build");
    Ok(())
}
