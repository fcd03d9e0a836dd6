//! The end of a process.

use std::fmt;
use std::process::ExitStatus;

/// How a server's process ended that nobody had asked to end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessExit {
    /// The exit status; `None` if the operating system didn't give one.
    pub status: Option<ExitStatus>,
    /// The last lines of its standard error, 4 KiB at most.
    pub stderr: String,
}

impl fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server's process has ended")?;
        if let Some(status) = self.status {
            write!(f, " with {status}")?;
        }
        match self.stderr.as_str() {
            "" => f.write_str(" and wrote nothing to its standard error"),
            stderr => write!(f, "; the end of its standard error is:\n{stderr}"),
        }
    }
}
