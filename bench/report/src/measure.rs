//! Running the measuring programs.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::machine::Machine;
use crate::parts::Part;
use crate::store::{Cell, Measured};

/// Builds what a part needs, and runs it several times.
pub fn measure(part: Part, runs: u8) -> Result<Measured> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    tell(format_args!("{}: building", part.name()));
    for package in part.packages() {
        build(&bench, package)?;
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

/// A package with its programs.
fn build(bench: &Path, package: &str) -> Result<()> {
    let mut command = Command::new(cargo());
    command
        .current_dir(bench)
        .args(["build", "--release", "--bins", "--package", package]);
    if !std::io::stderr().is_terminal() {
        command.arg("--quiet");
    }
    ensure!(command.status()?.success(), "{package} doesn't build");
    Ok(())
}

/// The numbers that a program prints.
pub fn run_program(bench: &Path, program: &str, arguments: &[&str], servers: &[String]) -> Result<Vec<Cell>> {
    let mut command = Command::new(target(bench).join(program));
    command
        .args(arguments)
        .args(servers)
        .current_dir(bench)
        .stderr(Stdio::inherit());
    let output = command.output().with_context(|| format!("{program} can't be run"))?;
    ensure!(output.status.success(), "{program} failed");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Where the programs are.
pub fn target(bench: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| bench.join("target"), PathBuf::from);
    target.join("release")
}

/// The cargo that runs this.
pub fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Tells whoever watches how far it is.
fn tell(line: impl std::fmt::Display) {
    if std::io::stderr().is_terminal() {
        eprintln!("{line}");
    }
}
