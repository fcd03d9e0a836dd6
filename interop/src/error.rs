//! Errors that prevent a run, as opposed to failures of a peer.

use std::path::{Path, PathBuf};

use mcp_runtime::Revision;

/// An error that prevents a run, as opposed to a failure of a peer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no era for {asked}; interop/eras has {}", known.join(", "))]
    NoEra { asked: Revision, known: Vec<String> },
    #[error("no row has {0:?} in one of its columns; run without --only to see all rows")]
    NoRow(String),
    #[error("{path}: a directory in interop/eras must have the name of a revision: {source}")]
    Era {
        path: PathBuf,
        source: mcp_adapters::UnknownRevision,
    },
    #[error("{program} wasn't found; {remedy}")]
    Missing { program: String, remedy: &'static str },
    #[error("{what} failed ({status}):\n{output}")]
    Failed {
        what: String,
        status: String,
        output: String,
    },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{path}: {reason}")]
    Malformed { path: PathBuf, reason: String },
}

impl Error {
    /// 2 for wrong arguments, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NoEra { .. } | Self::NoRow(_) => 2,
            _ => 1,
        }
    }

    /// An error of the operating system about a path.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        |source| Self::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// Malformed content of a file, or output of a program.
    pub fn malformed(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::Malformed {
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }
}
