//! Errors of calls, sessions and transports.

use std::fmt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use mcp_adapters::handlers::UnexpectedResult;
use mcp_adapters::mcp_wire::{ErrorObject, ErrorResponse, error_code};
use mcp_adapters::{FromPeer, Mismatch, Revision, Unrepresentable, hello};
use mcp_runtime_util::excerpt;

/// The error of a call.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The peer answered with an error.
    #[error("the peer answered with error {}: {}", .0.code, .0.message)]
    Peer(ErrorObject),
    /// The peer doesn't have the capability that the method or its parameters need; nothing was sent.
    #[error("the peer doesn't offer `{capability}`, which {method} needs")]
    NotOffered {
        /// The method.
        method: String,
        /// The capability, as the path of a member in the object of capabilities.
        capability: &'static str,
        /// The revision that is spoken with the peer.
        revision: Revision,
    },
    /// This side hasn't declared the capability that the notification needs; nothing was sent.
    #[error("this side hasn't declared `{capability}`, which {method} needs")]
    NotDeclared {
        /// The method.
        method: String,
        /// The capability, as the path of a member in the object of capabilities.
        capability: &'static str,
    },
    /// The notification of a change reaches nobody: the session is that of one HTTP request, which doesn't listen to it, and
    /// other sessions aren't known. A `Router` knows those that it serves.
    #[error("{0} reaches nobody from the session of one request: a router notifies all that it serves")]
    NotListening(String),
    /// The peer's revision can't represent the message; nothing was sent.
    #[error("the peer's revision can't represent the message: {0}")]
    Unrepresentable(String),
    /// The response is not a result of the method.
    #[error("the answer isn't a result of the method: {0}")]
    InvalidResult(String),
    /// The answer comes when the client repeats its request, and then the handler runs again: this run is over. Only tasks that a
    /// handler has spawned get this error.
    #[error("the answer comes with the repeated request, for which the handler runs again")]
    InputRequired,
    /// The result asks something that the handler of this client doesn't answer.
    #[error("the client doesn't answer what the server asks: {}", .0.message)]
    Unanswered(ErrorObject),
    /// The results ask something again and again; see [`Limits::rounds`](crate::Limits::rounds).
    #[error("the server asks something in more than {0} rounds")]
    TooManyRounds(usize),
    /// No response came in time; the call was cancelled.
    #[error("no answer came within {:?}", rounded(*.0))]
    TimedOut(Duration),
    /// The server responded with an HTTP error status, such as 401.
    #[error("{0}")]
    Http(Box<HttpFailure>),
    /// The transport failed, such as an HTTP client that reaches no server (`transport::http::client::HttpError`).
    #[error("{0}")]
    Transport(Arc<dyn std::error::Error + Send + Sync>),
    /// The response was cut: over HTTP, its body ended without the JSON-RPC response.
    #[error("{0}")]
    Cut(Arc<dyn std::error::Error + Send + Sync>),
    /// The server was a process that this client had started, and it has ended.
    #[error("{0}")]
    Exited(ProcessExit),
    /// The session ended before the response came.
    #[error("the session has ended")]
    Closed,
}

impl CallError {
    /// The error object of the peer's response, whether or not it came with an HTTP error status.
    #[must_use]
    pub fn error_object(&self) -> Option<&ErrorObject> {
        match self {
            Self::Peer(error) => Some(error),
            Self::Http(failure) => failure.response.as_ref().map(|response| &response.error),
            _ => None,
        }
    }
}

/// The error for a request that this side fails to answer.
pub fn internal_error(reason: impl fmt::Display) -> ErrorObject {
    ErrorObject::new(error_code::INTERNAL_ERROR, reason.to_string())
}

/// The error for a request with invalid parameters.
pub fn invalid_params(reason: impl fmt::Display) -> ErrorObject {
    ErrorObject::new(error_code::INVALID_PARAMS, reason.to_string())
}

/// What a peer is told whose request can't be answered because of a call.
///
/// An error of the peer that was called is passed on. A client that lacks the capability for a question gets the error that its
/// revision has for that. Whatever else went wrong is an internal error.
impl From<CallError> for ErrorObject {
    fn from(error: CallError) -> Self {
        let message = error.to_string();
        match error {
            CallError::Peer(error) => error,
            CallError::NotOffered {
                method,
                capability,
                revision,
            } => {
                let method = revision.method(&method);
                match method.is_some_and(|method| !method.direction.from_client()) {
                    true => hello::missing_capability(revision, capability, message),
                    false => Self::new(error_code::METHOD_NOT_FOUND, message),
                }
            }
            _ => internal_error(message),
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

/// A time as people write it: `60s`, `1.2s`, `100ms`.
fn rounded(time: Duration) -> Duration {
    let step = if time < Duration::from_secs(1) { 1 } else { 100 };
    let steps = (time.as_millis() + step / 2) / step;
    Duration::from_millis(u64::try_from(steps * step).unwrap_or(u64::MAX))
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

/// The error of a client that gets no session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// `initialize` failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The server speaks no revision that this client supports.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// The options support stateless revisions only, and the server answers as one with a handshake does.
    #[error("the server speaks no stateless revision, and the options support no other: {0}")]
    NotStateless(#[source] CallError),
    /// No revision is supported at all.
    #[error("the options support no revision")]
    NoRevision,
}

/// The error of a transport.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The peer is gone.
    #[error("the connection is closed")]
    Closed,
    /// The peer was a child process, and has exited.
    #[error("{0}")]
    Exited(ProcessExit),
    /// An error of the operating system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// An error specific to the transport.
    #[error("{0}")]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

/// The exit of a server process that the client hasn't ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessExit {
    /// The exit status; `None` if the operating system didn't give one.
    pub status: Option<ExitStatus>,
    /// The last lines of its standard error, 4 KiB at most.
    pub stderr: String,
}

impl ProcessExit {
    /// An exit with this status, and the last lines of the standard error.
    #[must_use]
    pub fn new(status: Option<ExitStatus>, stderr: String) -> Self {
        Self { status, stderr }
    }
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

/// An HTTP response with an error status.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HttpFailure {
    /// The status.
    pub status: StatusCode,
    /// The values of the header `WWW-Authenticate`, which say how to authenticate: 16 at most, of 8 KiB at most.
    pub challenges: Vec<String>,
    /// The beginning of the body, 4 KiB at most.
    pub body: String,
    /// The JSON-RPC error response that the body is, if it is one of at most 64 KiB.
    pub response: Option<ErrorResponse>,
}

impl HttpFailure {
    /// A response with this status, without challenges and body.
    #[must_use]
    pub fn new(status: StatusCode) -> Self {
        Self {
            status,
            challenges: Vec::new(),
            body: String::new(),
            response: None,
        }
    }
}

impl fmt::Display for HttpFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server answered with the HTTP status {}", self.status)?;
        match &self.response {
            Some(response) => write!(f, " and error {}: {}", response.error.code, response.error.message),
            None if self.body.is_empty() => Ok(()),
            None => write!(f, ": {}", excerpt(self.body.as_bytes())),
        }
    }
}
