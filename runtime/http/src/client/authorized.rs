//! Requests with tokens.

use mcp_adapters::Revision;
use mcp_auth::internal::Attempts;
use reqwest::{RequestBuilder, Response, Url};

use super::connection::Connection;
use super::error::HttpError;
use super::options::HttpOptions;
use super::state::{RemoteSession, SessionScope};

pub use mcp_auth::internal::Authorization;
pub use mcp_auth::{AuthError, Authorizer};

impl HttpOptions {
    /// Sets what gets tokens for this client. A request that the server refuses without one is sent again, once, when there is
    /// one; the timeouts of calls don't count the time until then. Tokens are sent to the server's origin only.
    #[must_use]
    pub fn authorizer(mut self, authorizer: Authorizer) -> Self {
        self.authorizer = Some(authorizer);
        self
    }
}

/// The authorization that the options want.
pub(super) fn authorization(options: &HttpOptions, server: &Url) -> Result<Option<Authorization>, HttpError> {
    let authorizer = options.authorizer.clone();
    let authorization = authorizer.map(|authorizer| Authorization::new(authorizer, server));
    Ok(authorization.transpose()?)
}

impl Connection {
    /// Sends an HTTP request with a token. If the server refuses it, gets a better one and sends it again.
    pub(super) async fn send_authorized(
        &self,
        authorization: &Authorization,
        request: RequestBuilder,
        scope: SessionScope,
    ) -> Result<(Response, RemoteSession), HttpError> {
        let (client, request) = request.build_split();
        let request = request?;
        let mut attempts = Attempts::default();
        loop {
            // The bodies of messages are in memory.
            let attempt = request.try_clone().ok_or(HttpError::NoResponse)?;
            let headers = authorization
                .headers(request.method(), request.url(), &mut attempts)
                .await?;
            let attempt = RequestBuilder::from_parts(client.clone(), attempt);
            let (response, session) = self.send_with(attempt, headers, scope.clone()).await?;
            let at_origin = self.may_authorize_at_origin();
            if !authorization.retry(&response, &mut attempts, at_origin).await? {
                return Ok((response, session));
            }
        }
    }

    /// Whether the server may be one of a revision in which servers have no metadata.
    fn may_authorize_at_origin(&self) -> bool {
        match self.state.lock().revision {
            Some(revision) => revision.facts().authorizes_at_origin,
            None => Revision::all().any(|revision| revision.facts().authorizes_at_origin),
        }
    }
}

impl From<AuthError> for HttpError {
    fn from(error: AuthError) -> Self {
        Self::Unauthorized(error.into())
    }
}

impl From<std::sync::Arc<AuthError>> for HttpError {
    fn from(error: std::sync::Arc<AuthError>) -> Self {
        Self::Unauthorized(error)
    }
}
