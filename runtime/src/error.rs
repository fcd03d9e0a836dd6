//! Why a call gives no result, and why there is no session.

use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::handlers::UnexpectedResult;
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_adapters::{FromPeer, Mismatch, Unrepresentable};

use crate::transport::{HttpFailure, ProcessExit, TransportError};

/// Why a call gives no result.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The peer answered with an error.
    #[error("the peer answered with error {}: {}", .0.code, .0.message)]
    Peer(ErrorObject),
    /// The peer doesn't offer the capability that the method needs, or that what it asks for needs; nothing was sent.
    #[error("the peer doesn't offer `{capability}`, which {method} needs")]
    NotOffered {
        /// The method.
        method: String,
        /// The capability, as the way from the object of capabilities to a member.
        capability: &'static str,
    },
    /// This side didn't declare the capability that the notification needs when the session began; nothing was sent.
    #[error("this side hasn't declared `{capability}`, which {method} needs")]
    NotDeclared {
        /// The method.
        method: String,
        /// The capability, as the way from the object of capabilities to a member.
        capability: &'static str,
    },
    /// The peer's revision can't represent the message; nothing was sent.
    #[error("the peer's revision can't represent the message: {0}")]
    Unrepresentable(String),
    /// The peer's answer is no result of the method.
    #[error("the answer is no result of the method: {0}")]
    InvalidResult(String),
    /// No answer came in time; the peer was told that the call is cancelled.
    #[error("no answer came within {0:?}")]
    TimedOut(Duration),
    /// The server answered with an HTTP status that says that the request has failed, such as 401.
    #[error("{0}")]
    Http(Box<HttpFailure>),
    /// The transport got no answer, such as an HTTP client that finds no server
    /// (`transport::http::client::HttpError`).
    #[error("{0}")]
    Transport(Arc<dyn std::error::Error + Send + Sync>),
    /// The server was a process that this client had started, and it has ended.
    #[error("{0}")]
    Exited(ProcessExit),
    /// The session ended before the answer came.
    #[error("the session has ended")]
    Closed,
}

impl CallError {
    /// The error object that the peer answered with, whether or not an HTTP status said that the request has failed.
    #[must_use]
    pub fn error_object(&self) -> Option<&ErrorObject> {
        match self {
            Self::Peer(error) => Some(error),
            Self::Http(failure) => failure.response.as_ref().map(|response| &response.error),
            _ => None,
        }
    }
}

impl From<UnexpectedResult> for CallError {
    fn from(error: UnexpectedResult) -> Self {
        Self::InvalidResult(error.to_string())
    }
}

impl From<FromPeer> for CallError {
    fn from(error: FromPeer) -> Self {
        Self::InvalidResult(error.to_string())
    }
}

impl From<Unrepresentable> for CallError {
    fn from(error: Unrepresentable) -> Self {
        Self::Unrepresentable(error.to_string())
    }
}

impl From<TransportError> for CallError {
    fn from(error: TransportError) -> Self {
        match error {
            TransportError::Closed => Self::Closed,
            TransportError::Exited(exit) => Self::Exited(exit),
            TransportError::Io(error) => Self::Transport(Arc::new(error)),
            TransportError::Other(error) => Self::Transport(error.into()),
        }
    }
}

/// Why a client has no session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The server's answer to `initialize` is missing, or none.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The server speaks no revision that this client supports.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// No revision is supported at all.
    #[error("the options support no revision")]
    NoRevision,
}
