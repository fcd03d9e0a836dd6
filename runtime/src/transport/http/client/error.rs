//! What goes wrong between a client and its server.

use std::sync::Arc;

use crate::error::CallError;
use crate::error::HttpFailure;

/// The server doesn't know the session any more: whoever still wants it has to initialize again, over the same transport
/// or a new one.
///
/// [`TransportError::Other`](crate::transport::TransportError::Other) holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the server has ended the session")]
pub struct SessionExpired;

/// Why an HTTP client fails, as a whole or in one of its requests.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The address can't be used.
    #[error("{0:?} is no HTTP address")]
    Address(String),
    /// The server couldn't be asked, or didn't finish its answer.
    #[error("{}", chain(.0))]
    Network(#[from] reqwest::Error),
    /// The hook that adds headers has failed.
    #[error("the headers couldn't be made: {0}")]
    Headers(Box<dyn std::error::Error + Send + Sync>),
    /// The server answered with a status that is a failure.
    #[error("{0}")]
    Status(Box<HttpFailure>),
    /// The answer is neither JSON nor a stream of events.
    #[error("the server answered with {0:?}, which is no message")]
    ContentType(String),
    /// The answer is over the limit.
    #[error("the server's answer has more than {0} bytes")]
    TooLarge(usize),
    /// The answer has ended and the request isn't answered.
    #[error("the server's answer ended without a response to the request")]
    Unanswered,
    /// The older way of HTTP with SSE failed.
    #[error("the server's event stream names no usable endpoint")]
    Endpoint,
    /// The session is over.
    #[error(transparent)]
    Expired(#[from] SessionExpired),
}

/// An error of reqwest with its causes, and without the address, which may hold secrets.
fn chain(error: &reqwest::Error) -> String {
    let mut text = String::from("the HTTP request failed");
    let mut cause = std::error::Error::source(error);
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
            error => Self::Transport(Arc::new(error)),
        }
    }
}
