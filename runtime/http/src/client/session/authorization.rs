//! The interface of a client's authorization.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_runtime_util::BoxFuture;
use reqwest::header::HeaderMap;
use reqwest::{Request, Response, Url};

use super::error::AuthorizationError;

/// Authorizes clients at servers: an `Authorizer` of `mcp-runtime-auth`, for example.
pub trait Authorize: Send + Sync + 'static {
    /// Creates the authorization of a client at the server with this URL.
    ///
    /// # Errors
    /// When a client can't be authorized at this server.
    fn at(&self, server: &Url) -> Result<Arc<dyn Authorization>, AuthorizationError>;
}

/// The authorization of a client at one server.
pub trait Authorization: fmt::Debug + Send + Sync {
    /// Starts a request, which can take several attempts.
    fn begin(&self) -> Box<dyn Attempts + '_>;

    /// The total time for which requests have waited for authorization, mostly for users. It doesn't count toward the
    /// timeouts of calls.
    fn waited(&self) -> Duration;
}

/// The attempts to send one request.
pub trait Attempts: Send {
    /// The headers that authorize the next attempt. A request to another origin than the server's must get no
    /// credentials.
    ///
    /// # Errors
    /// When the client can't be authorized.
    fn headers<'a>(&'a mut self, request: &'a Request) -> AuthorizationFuture<'a, HeaderMap>;

    /// Returns whether the request should be sent again, because new credentials are available. `at_origin` is true if
    /// the server may be one of a revision in which servers have no metadata, and clients are authorized at the
    /// server's own origin.
    ///
    /// # Errors
    /// When the client can't be authorized.
    fn retry<'a>(&'a mut self, response: &'a Response, at_origin: bool) -> AuthorizationFuture<'a, bool>;
}

/// The future of an operation of an attempt.
pub type AuthorizationFuture<'a, T> = BoxFuture<'a, Result<T, AuthorizationError>>;
