//! Commands that other programs do. They are run by cargo, because this crate must build when generated code doesn't.

use std::process::{Command, ExitCode};

use crate::args::{PassedOn, in_workspace};
use crate::print::tell;

/// Runs a command of `mcp-interop`, and ends as it does.
pub fn interop(command: &str, passed_on: &PassedOn) -> ExitCode {
    let args = ["--package", "mcp-interop", "--", command];
    run("Cargo.toml", &args, passed_on)
}

/// Runs `mcp-absorb`, and ends as it does.
pub fn absorb(passed_on: &PassedOn) -> ExitCode {
    run("Cargo.toml", &["--release", "--package", "mcp-absorb", "--"], passed_on)
}

/// Runs `mcp-bench-report`, which is in the workspace that has the peers, and ends as it does.
pub fn bench(passed_on: &PassedOn) -> ExitCode {
    let args = ["--release", "--package", "mcp-bench-report", "--"];
    run("bench/Cargo.toml", &args, passed_on)
}

fn run(manifest: &str, args: &[&str], passed_on: &PassedOn) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--manifest-path"])
        .arg(in_workspace(manifest))
        .args(args)
        .args(&passed_on.args)
        .status();
    match status {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            tell(format_args!("cargo can't be run: {error}"));
            ExitCode::FAILURE
        }
    }
}
