//! Commands that are other programs. Cargo runs them, because this crate must build even when generated code doesn't.

use std::io;
use std::process::{Command, ExitCode, Stdio};

use crate::args::{ForwardedArgs, in_workspace};
use crate::command::cargo;
use crate::print::status;

/// Runs a command of `mcp-interop`, and returns its exit status.
pub fn interop(command: &str, programs: &ForwardedArgs) -> ExitCode {
    let args = ["--package", "mcp-interop", "--", command];
    run("Cargo.toml", &args, programs)
}

/// Runs `mcp-absorb`, and returns its exit status.
pub fn absorb(programs: &ForwardedArgs) -> ExitCode {
    run("Cargo.toml", &["--release", "--package", "mcp-absorb", "--"], programs)
}

/// Runs `mcp-bench-report`, which is in a separate workspace with the measured peers, and returns its exit status.
pub fn bench(programs: &ForwardedArgs) -> ExitCode {
    let args = ["--release", "--package", "mcp-bench-report", "--"];
    run("bench/Cargo.toml", &args, programs)
}

/// Runs a program of the workspace with these arguments of `cargo run`. Returns its standard output, and whether it
/// succeeded.
pub fn output(args: &[&str]) -> io::Result<(String, bool)> {
    let output = cargo_run("Cargo.toml", args).stderr(Stdio::inherit()).output()?;
    Ok((
        String::from_utf8_lossy(&output.stdout).into_owned(),
        output.status.success(),
    ))
}

fn cargo_run(manifest: &str, args: &[&str]) -> Command {
    let mut command = cargo();
    command
        .args(["run", "--quiet", "--manifest-path"])
        .arg(in_workspace(manifest))
        .args(args);
    command
}

fn run(manifest: &str, args: &[&str], programs: &ForwardedArgs) -> ExitCode {
    match cargo_run(manifest, args).args(&programs.args).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            status(format_args!("cargo can't be run: {error}"));
            ExitCode::FAILURE
        }
    }
}
