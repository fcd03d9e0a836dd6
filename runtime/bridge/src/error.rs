//! Why a bridge doesn't serve a client.

use mcp_runtime_core::{CallError, ConnectError};

/// Why a client isn't served any more, or never was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// There is no session with the server.
    #[error("no session with the server: {0}")]
    Connect(#[from] ConnectError),
    /// As many sessions with the server as are allowed are busy.
    #[error("{0} sessions with the server are busy, and no more are allowed")]
    TooManyServers(usize),
    /// The client's session was idle for longer than others, and had to make room.
    #[error("the session was idle, and had to make room for that of another client")]
    Evicted,
    /// The server has ended before the client.
    #[error("{0}")]
    Server(CallError),
}

impl From<CallError> for BridgeError {
    fn from(error: CallError) -> Self {
        Self::Connect(error.into())
    }
}
