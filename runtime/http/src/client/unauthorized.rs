//! Requests without tokens, in a build without the feature `auth`: nobody has an [`Authorizer`].

use std::convert::Infallible;
use std::time::Duration;

use reqwest::{RequestBuilder, Response, Url};

use super::connection::Connection;
use super::error::HttpError;
use super::options::HttpOptions;
use super::state::{RemoteSession, SessionScope};

pub use std::convert::Infallible as AuthError;
pub use std::convert::Infallible as Authorizer;

/// What adds tokens to requests.
pub struct Authorization(Infallible);

impl Authorization {
    pub(super) fn waited(&self) -> Duration {
        match self.0 {}
    }
}

pub(super) fn authorization(options: &HttpOptions, _: &Url) -> Result<Option<Authorization>, HttpError> {
    Ok(options.authorizer.map(Authorization))
}

impl Connection {
    pub(super) async fn send_authorized(
        &self,
        authorization: &Authorization,
        _: RequestBuilder,
        _: SessionScope,
    ) -> Result<(Response, RemoteSession), HttpError> {
        match authorization.0 {}
    }
}
