//! Runs the measuring programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::measured::Cell;

/// Runs a program of a workspace, and returns the numbers that it prints.
pub fn run_program(
    bench: &Path,
    workspace: &str,
    program: &str,
    arguments: &[&str],
    servers: &[String],
) -> Result<Vec<Cell>> {
    let mut command = Command::new(target(bench, workspace).join(program));
    command
        .args(arguments)
        .args(servers)
        .current_dir(bench)
        .stderr(Stdio::inherit());
    let output = command.output().with_context(|| format!("{program} can't be run"))?;
    ensure!(output.status.success(), "{program} failed");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Returns the folder with the release programs of a workspace.
pub fn target(bench: &Path, workspace: &str) -> PathBuf {
    let own = || bench.join(workspace).join("target");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(own, PathBuf::from);
    target.join("release")
}

/// Returns the cargo that runs this program.
pub fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Returns the CPU time of all child processes that have ended, and of their children, in seconds.
pub fn children() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name, in parentheses, can contain spaces. The first field after it is the third, the state.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok());
    let (user, system) = ticks(13).zip(ticks(14)).context("/proc/self/stat has no times")?;
    // USER_HZ is 100 on every common architecture of Linux.
    Ok((user + system) / 100.0)
}
