//! Commands that other programs do. They are run by cargo, because this crate must build when generated code doesn't.

use std::io;
use std::process::{Command, ExitCode, Stdio};

use crate::args::{PassedOn, in_workspace};
use crate::print::status;

/// Runs a command of `mcp-interop`, and ends as it does.
pub fn interop(command: &str, programs: &PassedOn) -> ExitCode {
    let args = ["--package", "mcp-interop", "--", command];
    run("Cargo.toml", &args, programs)
}

/// Runs `mcp-absorb`, and ends as it does.
pub fn absorb(programs: &PassedOn) -> ExitCode {
    run("Cargo.toml", &["--release", "--package", "mcp-absorb", "--"], programs)
}

/// Runs `mcp-bench-report`, which is in the workspace that has the peers, and ends as it does.
pub fn bench(programs: &PassedOn) -> ExitCode {
    let args = ["--release", "--package", "mcp-bench-report", "--"];
    run("bench/Cargo.toml", &args, programs)
}

/// What a program of the workspace writes, by the arguments of `cargo run`, and whether it succeeds.
pub fn output(args: &[&str]) -> io::Result<(String, bool)> {
    let output = cargo_run("Cargo.toml", args).stderr(Stdio::inherit()).output()?;
    Ok((
        String::from_utf8_lossy(&output.stdout).into_owned(),
        output.status.success(),
    ))
}

fn cargo_run(manifest: &str, args: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["run", "--quiet", "--manifest-path"])
        .arg(in_workspace(manifest))
        .args(args);
    command
}

fn run(manifest: &str, args: &[&str], programs: &PassedOn) -> ExitCode {
    match cargo_run(manifest, args).args(&programs.args).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            status(format_args!("cargo can't be run: {error}"));
            ExitCode::FAILURE
        }
    }
}
