//! What authorizes the requests of a client.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_runtime_util::BoxFuture;
use reqwest::header::HeaderMap;
use reqwest::{Request, Response, Url};

use super::error::AuthorizationError;

/// Authorizes clients at servers: an `Authorizer` of `mcp-runtime-auth`, for example.
pub trait Authorize: Send + Sync + 'static {
    /// The authorization of a client at the server with this URL.
    ///
    /// # Errors
    /// There can't be one.
    fn at(&self, server: &Url) -> Result<Arc<dyn Authorization>, AuthorizationError>;
}

/// The authorization of a client at one server.
pub trait Authorization: fmt::Debug + Send + Sync {
    /// Begins a request.
    fn begin(&self) -> Box<dyn Attempts + '_>;

    /// How long requests have waited for what authorizes them: for users, for the most part. The timeouts of calls don't count that.
    fn waited(&self) -> Duration;
}

/// The attempts to send one request.
pub trait Attempts: Send {
    /// The headers that authorize the next attempt. A request to another origin than the server's must get no credentials.
    ///
    /// # Errors
    /// The client can't be authorized.
    fn headers<'a>(&'a mut self, request: &'a Request) -> AuthorizationFuture<'a, HeaderMap>;

    /// Whether the request should be sent again, with what is now there to authorize it. `at_origin` says whether the server may be
    /// one of a revision in which servers have no metadata, and are authorized at their own origin.
    ///
    /// # Errors
    /// The client can't be authorized.
    fn retry<'a>(&'a mut self, response: &'a Response, at_origin: bool) -> AuthorizationFuture<'a, bool>;
}

/// What comes of an attempt.
pub type AuthorizationFuture<'a, T> = BoxFuture<'a, Result<T, AuthorizationError>>;
