//! What `mcp-interop` does. It is run as a program of its own, because this crate must build when generated code doesn't.

use std::process::{Command, ExitCode};

use crate::args::{PassedOn, in_workspace};
use crate::print::tell;

/// Runs a command of `mcp-interop`, and ends as it does.
pub fn run(command: &str, passed_on: &PassedOn) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--package", "mcp-interop", "--manifest-path"])
        .arg(in_workspace("Cargo.toml"))
        .args(["--", command])
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
