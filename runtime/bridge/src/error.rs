//! The errors of a bridge.

use mcp_runtime_core::{CallError, ConnectError};

/// The reason why a bridge doesn't serve a client, or stopped serving it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// No session with the server could be started.
    #[error("no session with the server: {0}")]
    Connect(#[from] ConnectError),
    /// The maximum number of sessions with the server is reached, and all of them are busy.
    #[error("{0} sessions with the server are busy, and no more are allowed")]
    TooManyServers(usize),
    /// The client's idle session was ended to make room for that of another client.
    #[error("the session was idle, and had to make room for that of another client")]
    Evicted,
    /// The server ended before the client.
    #[error("{0}")]
    Server(CallError),
}

impl From<CallError> for BridgeError {
    fn from(error: CallError) -> Self {
        Self::Connect(error.into())
    }
}
