//! Running the measuring programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::measured::Cell;

/// The numbers that a program of a workspace prints.
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

/// Where the programs of a workspace are.
pub fn target(bench: &Path, workspace: &str) -> PathBuf {
    let own = || bench.join(workspace).join("target");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(own, PathBuf::from);
    target.join("release")
}

/// The cargo that runs this.
pub fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The CPU time of all children that have ended, and of theirs, in seconds.
pub fn children() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name, in parentheses, may hold spaces. The fields after it begin with the third, the state.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok());
    let (user, system) = ticks(13).zip(ticks(14)).context("/proc/self/stat has no times")?;
    // USER_HZ is 100 on every architecture that Linux has in use.
    Ok((user + system) / 100.0)
}
