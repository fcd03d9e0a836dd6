//! Errors of calls, sessions and transports.

use std::fmt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use mcp_adapters::handlers::UnexpectedResult;
use mcp_adapters::mcp_wire::{ErrorObject, ErrorResponse, error_code};
use mcp_adapters::{FromPeer, Mismatch, Revision, Unrepresentable, session_messages};
use mcp_runtime_util::excerpt;

/// The error of a call.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The peer responded with an error.
    #[error("the peer answered with error {}: {}", .0.code, .0.message)]
    Peer(ErrorObject),
    /// The peer doesn't have the capability that the method or its parameters need; nothing was sent.
    #[error("the peer doesn't offer `{capability}`, which {method} needs")]
    NotOffered {
        /// The method.
        method: String,
        /// The capability, as the path of a member in the object of capabilities.
        capability: &'static str,
        /// The revision negotiated with the peer.
        revision: Revision,
    },
    /// The session belongs to a single HTTP request, so the server can only respond to it; nothing was sent.
    #[error("{0} can't be sent: the server has no session with this client, and can only respond to its requests")]
    NoSession(String),
    /// This side hasn't declared the capability that the notification needs; nothing was sent.
    #[error("this side hasn't declared `{capability}`, which {method} needs")]
    NotDeclared {
        /// The method.
        method: String,
        /// The capability, as the path of a member in the object of capabilities.
        capability: &'static str,
    },
    /// The notification of a change reaches nobody: the session belongs to a single HTTP request, which isn't a
    /// subscription to it, and doesn't know other sessions. A `Router` knows all sessions that it serves.
    #[error("{0} reaches nobody: a session of a single request knows no other client; only a router notifies all")]
    NotListening(String),
    /// The parameters aren't what the method takes, such as an object; nothing was sent.
    #[error("the parameters can't be sent: {0}")]
    InvalidParams(String),
    /// The peer's revision can't represent the message; nothing was sent.
    #[error("the peer's revision can't represent the message: {0}")]
    Unrepresentable(String),
    /// The response is not a result of the method.
    #[error("the answer isn't a result of the method: {0}")]
    InvalidResult(String),
    /// This run of the handler is over: the client's input arrives when the client repeats its request, and the handler
    /// then runs again. Only tasks that a handler has spawned get this error.
    #[error(
        "a spawned task can't request input from a stateless client: the input comes with the repeated request, for which the handler \
         runs again"
    )]
    InputRequired,
    /// The result requests input that the handler of this client doesn't provide.
    #[error("the client doesn't provide the input that the server requests: {}", .0.message)]
    InputNotProvided(ErrorObject),
    /// The server requested input in too many rounds; see [`Limits::rounds`](crate::Limits::rounds).
    #[error("the server requests input in more than {0} rounds")]
    TooManyRounds(usize),
    /// No response came within the timeout; the call was cancelled.
    #[error("no answer came within {:?}", rounded(*.0))]
    TimedOut(Duration),
    /// The server responded with an HTTP error status, such as 401.
    #[error("{0}")]
    Http(Box<HttpFailure>),
    /// The transport failed: for example, an HTTP client couldn't reach the server
    /// (`transport::http::client::HttpError`).
    #[error("{0}")]
    Transport(Arc<dyn std::error::Error + Send + Sync>),
    /// The response was cut off: over HTTP, its body ended without the JSON-RPC response.
    #[error("{0}")]
    Cut(Arc<dyn std::error::Error + Send + Sync>),
    /// The server was a process that this client had started, and it has exited.
    #[error("{0}")]
    Exited(ProcessExit),
    /// The session ended before the response came.
    #[error("the session has ended")]
    Closed,
}

impl CallError {
    /// Returns the error object of the peer's response, whether or not it came with an HTTP error status.
    #[must_use]
    pub fn error_object(&self) -> Option<&ErrorObject> {
        match self {
            Self::Peer(error) => Some(error),
            Self::Http(failure) => failure.response.as_ref().map(|response| &response.error),
            _ => None,
        }
    }
}

/// Returns the error object for a request that failed on this side.
pub fn internal_error(reason: impl fmt::Display) -> ErrorObject {
    ErrorObject::new(error_code::INTERNAL_ERROR, reason.to_string())
}

/// Returns the error object for a request with invalid parameters.
pub fn invalid_params(reason: impl fmt::Display) -> ErrorObject {
    ErrorObject::new(error_code::INVALID_PARAMS, reason.to_string())
}

/// The error response to a request whose handler failed because of a call of its own.
///
/// An error of the called peer is passed on. A client that lacks the capability for an input request gets the error
/// that its revision defines for that. Anything else is an internal error.
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
                    true => session_messages::missing_capability(revision, capability, message),
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

/// Rounds a duration for display, such as `60s`, `1.2s` or `100ms`.
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

/// The error when a client can't start a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// `initialize` failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The server supports none of the revisions that this client supports.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// The options support only stateless revisions, and the server responds like one with a handshake.
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

/// The exit of a server process that the client didn't terminate. Its text has only the status; show
/// [`stderr`](Self::stderr) too if only the user who started the process reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessExit {
    /// The exit status; `None` if the operating system didn't report one.
    pub status: Option<ExitStatus>,
    /// The last lines of its standard error, 4 KiB at most.
    pub stderr: String,
    /// The name of the server, if its client has several.
    pub server: Option<String>,
}

impl ProcessExit {
    /// An exit with this status, and the last lines of the standard error.
    #[must_use]
    pub fn new(status: Option<ExitStatus>, stderr: String) -> Self {
        Self {
            status,
            stderr,
            server: None,
        }
    }

    /// Names the server.
    #[must_use]
    pub fn of_server(mut self, name: impl Into<String>) -> Self {
        self.server = Some(name.into());
        self
    }
}

/// Without the standard error, which may contain data of other clients of the process: errors are often passed on to
/// clients.
impl fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.server {
            Some(server) => write!(f, "the process of the server {server:?} has ended")?,
            None => f.write_str("the server's process has ended")?,
        }
        match self.status {
            Some(status) => write!(f, " with {status}"),
            None => Ok(()),
        }
    }
}

/// An HTTP response with an error status.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HttpFailure {
    /// The status.
    pub status: StatusCode,
    /// The values of the header `WWW-Authenticate`, which state how to authenticate: at most 16, of at most 8 KiB each.
    pub challenges: Vec<String>,
    /// The value of the header `Location` of a redirect that wasn't followed, if it has at most 8 KiB.
    pub location: Option<String>,
    /// The start of the body, at most 4 KiB.
    pub body: String,
    /// The body as a JSON-RPC error response, if it is one and has at most 64 KiB.
    pub response: Option<ErrorResponse>,
}

impl HttpFailure {
    /// Creates a response with this status, without challenges or a body.
    #[must_use]
    pub fn new(status: StatusCode) -> Self {
        Self {
            status,
            challenges: Vec::new(),
            location: None,
            body: String::new(),
            response: None,
        }
    }
}

impl fmt::Display for HttpFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server answered with the HTTP status {}", self.status)?;
        if let Some(location) = &self.location {
            return write!(f, ", which redirects to {}", excerpt(location.as_bytes()));
        }
        match &self.response {
            Some(response) => write!(f, " and error {}: {}", response.error.code, response.error.message),
            None if self.body.is_empty() => Ok(()),
            None => write!(f, ": {}", excerpt(self.body.as_bytes())),
        }
    }
}
