//! Why nothing could be run at all.

use std::path::{Path, PathBuf};

use mcp_runtime::Revision;

/// Why nothing could be run at all, as against a peer that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no era for {asked}; interop/eras has {}", known.join(", "))]
    NoEra { asked: Revision, known: Vec<String> },
    #[error("nothing has {0:?} in one of its columns; run without --only to see them")]
    NoRow(String),
    #[error("{path}: a directory of eras is named for a revision: {source}")]
    Era {
        path: PathBuf,
        source: mcp_adapters::UnknownRevision,
    },
    #[error("{program} isn't there; {remedy}")]
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
    /// 2 for what was typed, 1 for what happened.
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

    /// Something that can't be understood at a path.
    pub fn malformed(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::Malformed {
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }
}
