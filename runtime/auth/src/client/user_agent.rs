//! The interface to the user.

use mcp_runtime_util::BoxFuture;
use reqwest::Url;

use crate::error::BoxError;

/// Shows the user the page of an authorization server, and receives the redirect from that page.
///
/// [`Loopback`](super::Loopback) implements it for programs on the user's machine.
pub trait UserAgent: Send + Sync + 'static {
    /// The redirect URI, to which the authorization server sends the user back.
    fn redirect_uri(&self) -> &str;

    /// Opens this URL for the user, and waits until the authorization server has redirected to the redirect URI.
    /// Returns the whole URL of the redirect; the caller checks it.
    ///
    /// The future is dropped if the caller gives up.
    fn authorize<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Url, BoxError>>;
}

/// A parameter in the query of a URL.
pub fn parameter(url: &Url, name: &str) -> Option<String> {
    let mut parameters = url.query_pairs();
    let parameter = parameters.find(|(its, _)| its == name);
    parameter.map(|(_, value)| value.into_owned())
}
