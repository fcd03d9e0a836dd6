//! HTTP responses that are failures.

use std::fmt;

use http::StatusCode;
use mcp_adapters::mcp_wire::ErrorResponse;

use crate::excerpt::excerpt;

/// An HTTP response whose status says that the request has failed.
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
