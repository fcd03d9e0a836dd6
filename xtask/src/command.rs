//! Runs cargo and git.

use std::error::Error;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

/// The cargo that runs this program, or else the one in the path.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Git in a directory.
pub fn git(directory: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory);
    git
}

/// Runs a command, and returns its standard output.
///
/// # Errors
/// A command that can't be run, or that failed, with what it printed.
pub fn read(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = output(command)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{}` failed:\n{}", shown(command), text.trim_end()).into())
}

/// Runs a command, and returns its exit status and output.
///
/// # Errors
/// A command that can't be run.
pub fn output(command: &mut Command) -> Result<Output, Box<dyn Error>> {
    let output = command.output();
    output.map_err(|error| format!("`{}` can't be run: {error}", shown(command)).into())
}

/// A command as a person would write it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_name().unwrap_or(command.get_program());
    let parts: Vec<_> = std::iter::once(program)
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect();
    parts.join(" ")
}
