//! Measurement of a part in several runs.

use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::machine::Machine;
use crate::measured::Measured;
use crate::parts::Part;
use crate::programs::cargo;

/// Builds the programs of a part, and runs them several times.
pub fn measure(part: Part, runs: u8) -> Result<Measured> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    tell(format_args!("{}: building", part.name()));
    for (workspace, package) in part.packages() {
        build(&bench.join(workspace), package)?;
    }
    let mut measured = Measured {
        machine: Machine::now(&bench)?,
        numbers: Vec::new(),
    };
    for run in 1..=runs {
        tell(format_args!("{}: run {run} of {runs}", part.name()));
        measured.add(part.run(&bench)?);
    }
    Ok(measured)
}

/// Builds the programs of a package.
fn build(workspace: &Path, package: &str) -> Result<()> {
    let mut command = Command::new(cargo());
    command
        .current_dir(workspace)
        .args(["build", "--release", "--bins", "--package", package]);
    if !std::io::stderr().is_terminal() {
        command.arg("--quiet");
    }
    ensure!(command.status()?.success(), "{package} doesn't build");
    Ok(())
}

/// Reports progress on a terminal.
fn tell(line: impl std::fmt::Display) {
    if std::io::stderr().is_terminal() {
        eprintln!("{line}");
    }
}
