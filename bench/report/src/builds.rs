//! Measurement of builds of programs.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::measured::Cell;
use crate::programs::{cargo, children};

/// The programs: their row, column and name.
const PROGRAMS: [(&str, &str, &str); 6] = [
    ("server", "ours", "server"),
    ("server", "rmcp", "rmcp-server"),
    ("client", "ours", "client"),
    ("client", "rmcp", "rmcp-client"),
    ("types", "ours", "types"),
    ("types", "rmcp", "rmcp-types"),
];
const PACKAGE: [&str; 3] = ["--package", "mcp-bench-programs", "--features"];

/// Builds each program from scratch.
pub fn measure(bench: &Path) -> Result<Vec<Cell>> {
    let target = std::env::temp_dir().join(format!("mcp-bench-builds-{}", std::process::id()));
    let mut cells = Vec::new();
    for (row, column, program) in PROGRAMS {
        let cpu = build(bench, &target, program);
        let size = std::fs::metadata(target.join("release").join(program)).map(|file| file.len());
        // The folder is large, so it is removed even if the build failed.
        std::fs::remove_dir_all(&target)?;
        for (table, value) in [
            ("CPU time of a release build, s", cpu?),
            ("release size, KB", size? as f64 / 1000.0),
            ("crates", crates(bench, program)?),
        ] {
            cells.push(Cell::new(table, row, column, value));
        }
    }
    Ok(cells)
}

/// Builds a program, and returns the CPU time of cargo and all compilers.
fn build(bench: &Path, target: &Path, program: &str) -> Result<f64> {
    let before = children()?;
    let mut command = Command::new(cargo());
    command
        .current_dir(bench)
        .args(["build", "--release", "--quiet"])
        .args(PACKAGE)
        .arg(program);
    command.args(["--bin", program, "--target-dir"]).arg(target);
    // The workspace keeps line tables for callgrind. The default profile, which users have, doesn't.
    command
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        .env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo");
    ensure!(command.status()?.success(), "{program} doesn't build");
    Ok(children()? - before)
}

/// Returns the number of crates that are built for the program, including build dependencies, without the program
/// itself.
fn crates(bench: &Path, program: &str) -> Result<f64> {
    let mut command = Command::new(cargo());
    command
        .current_dir(bench)
        .args(["tree", "--prefix", "none", "--edges", "normal,build", "--format", "{p}"]);
    let output = command.args(PACKAGE).arg(program).output()?;
    ensure!(output.status.success(), "cargo tree failed");
    let text = String::from_utf8(output.stdout)?;
    let crates: BTreeSet<&str> = text
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .filter(|line| !line.is_empty())
        .collect();
    Ok(crates.len() as f64 - 1.0)
}
