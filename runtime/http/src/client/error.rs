//! The errors of an HTTP client.

use std::error::Error;
use std::sync::Arc;

use mcp_runtime_core::CallError;
use mcp_runtime_core::transport::HttpFailure;

/// An error of any type.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// The reason why a client isn't authorized. All requests that wait for the same authorization get the same error.
pub type AuthorizationError = Arc<dyn Error + Send + Sync>;

/// The error when the server no longer has the session. A new session requires another `initialize`, over the same
/// transport or a new one.
///
/// [`TransportError::Other`](mcp_runtime_core::transport::TransportError::Other) holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the server has ended the session")]
pub struct SessionExpired;

/// An error of an HTTP client or of one of its requests.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The URL isn't an HTTP or HTTPS URL.
    #[error("{0:?} isn't an HTTP URL")]
    Address(String),
    /// The server couldn't be reached, or didn't finish its response.
    #[cfg(feature = "client")]
    #[error("the HTTP request failed{}", causes(.0))]
    Network(#[from] reqwest::Error),
    /// The function that sends HTTP requests has failed.
    #[error("the HTTP request failed: {}", chain(&**.0))]
    Send(BoxError),
    /// The body of the response, which this function returned, has failed.
    #[error("the HTTP response was cut: {}", chain(&**.0))]
    Body(BoxError),
    /// The function that makes additional headers has failed.
    #[error("the headers couldn't be made: {0}")]
    Headers(BoxError),
    /// The client isn't authorized. With an `Authorizer` of `mcp-runtime-auth`, the reason is an `AuthError`.
    #[error("the client isn't authorized: {0}")]
    Unauthorized(AuthorizationError),
    /// The server responded with an error status.
    #[error("{0}")]
    Status(Box<HttpFailure>),
    /// The response is neither JSON nor a stream of events.
    #[error("the server responded with the content type {0:?}, which is neither JSON nor an event stream")]
    ContentType(String),
    /// The response to a request has no body.
    #[error("the HTTP response has no body, where the JSON-RPC response to the request should be")]
    EmptyBody,
    /// The response is JSON, but not the JSON-RPC response to the request.
    #[error("the HTTP response is JSON, but not the JSON-RPC response to the request")]
    UnrelatedJson,
    /// The response is over the limit.
    #[error("the server's response has more than {0} bytes")]
    TooLarge(usize),
    /// The stream of events has ended without a JSON-RPC response.
    #[error("the HTTP response ended without the JSON-RPC response to the request")]
    MissingResponse,
    /// The stream of HTTP with SSE names no usable endpoint.
    #[error("the server's event stream names no usable endpoint")]
    Endpoint,
    /// The session has ended.
    #[error(transparent)]
    Expired(#[from] SessionExpired),
}

/// The text of an error with its causes.
fn chain(error: &dyn Error) -> String {
    format!("{error}{}", causes(error))
}

/// The text of an error's causes, without that of the error itself: an error of reqwest contains the URL, which can
/// contain secrets.
fn causes(error: &dyn Error) -> String {
    let mut text = String::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

impl From<HttpFailure> for HttpError {
    fn from(failure: HttpFailure) -> Self {
        Self::Status(Box::new(failure))
    }
}

impl From<HttpError> for CallError {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Status(failure) => Self::Http(failure),
            HttpError::ContentType(_) | HttpError::EmptyBody | HttpError::UnrelatedJson | HttpError::TooLarge(_) => {
                Self::InvalidResult(error.to_string())
            }
            HttpError::MissingResponse | HttpError::Body(_) => Self::Cut(Arc::new(error)),
            #[cfg(feature = "client")]
            HttpError::Network(ref cause) if cause.is_body() || cause.is_decode() => Self::Cut(Arc::new(error)),
            error => Self::Transport(Arc::new(error)),
        }
    }
}
