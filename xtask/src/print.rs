//! Printing to a pipe that may close early, as with `cargo xtask model … | head`, which isn't an error.

use std::error::Error;
use std::fmt::Display;
use std::io::{self, Write};

/// Writes to standard output.
pub fn print(text: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "{text}")?;
    out.flush()
}

/// Writes a line to standard error. A failure is ignored, because it can't be reported anywhere.
pub fn status(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Writes warnings to standard error.
pub fn warn(warnings: &[impl Display]) {
    for warning in warnings {
        status(format_args!("warning: {warning}"));
    }
}

/// Whether a command failed only because its output pipe was closed.
pub fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
