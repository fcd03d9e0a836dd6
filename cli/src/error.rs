//! The reasons for which a command fails as a whole.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::RawJson;
use mcp_runtime::bridge::BridgeError;
use mcp_runtime::http::StatusCode;
use mcp_runtime::transport::http::client::HttpError;
use mcp_runtime::transport::stdio::SpawnError;
use mcp_runtime::{CallError, ConnectError};

use crate::suggest::tip;

/// Whether everything that a command had to do succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summary {
    AllSucceeded,
    SomeFailed,
}

impl Summary {
    pub fn of(all_succeeded: bool) -> Self {
        match all_succeeded {
            true => Self::AllSucceeded,
            false => Self::SomeFailed,
        }
    }
}

/// The reason for which a command failed as a whole.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("revision {revision} has no definition {name:?}")]
    UnknownType {
        revision: Revision,
        name: String,
        known: Vec<&'static str>,
    },
    #[error("a translation from revision {from} to {to} takes no --supply key {name:?}")]
    UnknownKey {
        from: Revision,
        to: Revision,
        name: String,
        known: Vec<&'static str>,
    },
    #[error("there is no command {name:?}")]
    UnknownCommand { name: String, known: Vec<String> },
    #[error("the workspace has no crate {name:?}")]
    UnknownCrate { name: String, known: Vec<String> },
    #[error("{} has no server {name:?}", file.display())]
    UnknownServer {
        file: PathBuf,
        name: String,
        known: Vec<String>,
    },
    #[error("the server has no {kind} {name:?}")]
    Unoffered {
        kind: &'static str,
        name: String,
        known: Vec<String>,
    },
    #[error("the list of {list} fails: {reason}")]
    List { list: &'static str, reason: String },
    #[error("{0}")]
    Argument(String),
    #[error("{}: {reason}", file.display())]
    File { file: PathBuf, reason: String },
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("no session with the server: {0}")]
    Connect(#[from] ConnectError),
    /// The server refuses the token that was obtained for it.
    #[error("no session with the server, in spite of a token: {0}")]
    TokenRefused(ConnectError),
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    Bridge(#[from] BridgeError),
    #[error("can't read or write: {0}")]
    Io(#[from] io::Error),
}

impl CommandError {
    /// The error for a file that can't be used.
    pub fn file(file: &Path, reason: impl Display) -> Self {
        Self::File {
            file: file.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// The exit status, as documented in the help of the program.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownType { .. }
            | Self::UnknownKey { .. }
            | Self::UnknownCommand { .. }
            | Self::UnknownCrate { .. }
            | Self::UnknownServer { .. }
            | Self::Argument(_)
            | Self::File { .. } => 2,
            Self::Spawn(_) | Self::Http(_) | Self::Connect(_) | Self::TokenRefused(_) | Self::Bridge(_) => 3,
            Self::Call(CallError::Transport(_) | CallError::Exited(_) | CallError::Closed) => 3,
            Self::Unoffered { .. } | Self::List { .. } | Self::Call(_) | Self::Io(_) => 1,
        }
    }

    /// The error with the standard error of a server that has exited. It is for local users who started the server, and so
    /// may read that.
    pub fn with_stderr(&self) -> String {
        let stderr = match self.call_error() {
            Some(CallError::Exited(exit)) if exit.stderr.is_empty() => {
                " and wrote nothing to its standard error".into()
            }
            Some(CallError::Exited(exit)) => format!("; the end of its standard error is:\n{}", exit.stderr),
            _ => String::new(),
        };
        format!("{self}{stderr}")
    }

    /// The error with its data and a tip, as text for people.
    pub fn for_people(&self) -> String {
        let tip = self.tip().map_or_else(String::new, |tip| format!("\n\n  tip: {tip}"));
        let data = self.data().map_or_else(String::new, |data| format!("\n  data: {data}"));
        format!("error: {}{data}{tip}", self.with_stderr())
    }

    /// The `data` of the peer's error.
    fn data(&self) -> Option<&str> {
        match self.call_error()? {
            CallError::Peer(error) => error.data.as_ref().map(RawJson::text),
            _ => None,
        }
    }

    /// The error of a call of the server, if that is the reason.
    fn call_error(&self) -> Option<&CallError> {
        match self {
            Self::Call(error)
            | Self::Connect(ConnectError::Call(error))
            | Self::TokenRefused(ConnectError::Call(error))
            | Self::Bridge(BridgeError::Server(error) | BridgeError::Connect(ConnectError::Call(error))) => Some(error),
            _ => None,
        }
    }

    /// A tip that may help the user.
    pub fn tip(&self) -> Option<String> {
        let of = |name: &str, known: &[String]| tip(name, &known.iter().map(String::as_str).collect::<Vec<_>>());
        match self {
            Self::UnknownType { name, known, .. } => Some(tip(name, known)),
            // The keys are few, and all start alike.
            Self::UnknownKey { known, .. } if known.is_empty() => None,
            Self::UnknownKey { known, .. } => Some(format!("there are {}", known.join(", "))),
            Self::UnknownCommand { name, known }
            | Self::UnknownCrate { name, known }
            | Self::UnknownServer { name, known, .. }
            | Self::Unoffered { name, known, .. } => Some(of(name, known)),
            Self::Connect(ConnectError::Mismatch(_)) => Some("--revision chooses the revisions to speak".to_owned()),
            Self::Connect(ConnectError::Call(CallError::Http(failure))) | Self::Call(CallError::Http(failure))
                if failure.status == StatusCode::UNAUTHORIZED =>
            {
                Some("--auth gets a token for a server that uses OAuth".to_owned())
            }
            Self::Connect(ConnectError::Call(CallError::Http(failure))) if failure.status == StatusCode::NOT_FOUND => {
                Some("the path of the URL may be another one, such as /mcp".to_owned())
            }
            Self::Call(CallError::TimedOut(_)) | Self::Connect(ConnectError::Call(CallError::TimedOut(_))) => {
                Some("--timeout gives the server more time".to_owned())
            }
            Self::Bridge(BridgeError::Connect(ConnectError::Call(CallError::TimedOut(_)))) => {
                Some("--connect-timeout gives the server more time".to_owned())
            }
            _ => None,
        }
    }
}
