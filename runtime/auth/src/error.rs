//! The errors of authorization.

use mcp_runtime_util::excerpt;

/// An error of any kind.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The error of a client that can't be authorized.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// A URL of a server can't be used.
    #[error("the URL {url:?} can't be used for authorization: {why}")]
    Url {
        /// The URL.
        url: String,
        /// The problem with it.
        why: &'static str,
    },
    /// A host has only addresses to which the server may not direct its clients: those of a private network, unless
    /// that is allowed, link-local ones, and those of cloud metadata services.
    #[error("{0} has no public address; see `Authorizer::allow_private_network`")]
    Blocked(String),
    /// A server couldn't be reached, or didn't answer in time.
    #[error("{url} can't be reached: {why}")]
    Network {
        /// The URL.
        url: String,
        /// The reason.
        why: String,
    },
    /// A response is too long.
    #[error("the response of {0} is too long")]
    TooLarge(String),
    /// A response is invalid.
    #[error("the response of {url} can't be used: {why}")]
    Malformed {
        /// The URL.
        url: String,
        /// The problem with it.
        why: String,
    },
    /// There is no metadata that names an authorization server.
    #[error("there is no authorization metadata for {0}")]
    NoMetadata(String),
    /// The metadata are for another resource.
    #[error("the metadata are for {found:?}, which {server} isn't part of")]
    ResourceMismatch {
        /// The URL of the server.
        server: String,
        /// The resource of the metadata.
        found: String,
    },
    /// An authorization server isn't the expected one.
    #[error("the authorization server is {found:?}, and not {expected:?} as expected")]
    IssuerMismatch {
        /// The issuer that is expected.
        expected: String,
        /// The issuer that was named; empty for none.
        found: String,
    },
    /// The authorization server lacks a feature that the protocol requires.
    #[error("the authorization server {issuer} has no {what}")]
    NotOffered {
        /// The authorization server.
        issuer: String,
        /// The missing feature.
        what: &'static str,
    },
    /// There is no client id for an authorization server.
    #[error("there is no client id for {0}: register a client there, and name it in the options")]
    NoClient(String),
    /// The redirect doesn't belong to the request for authorization.
    #[error("the redirect doesn't belong to the request for authorization")]
    State,
    /// The authorization server has refused the request.
    #[error("the authorization server refused the request: {code}{}", shown(.description))]
    Refused {
        /// The code of the error, such as `access_denied`.
        code: String,
        /// The authorization server's description of the error.
        description: Option<String>,
    },
    /// The authorization server can't handle the request at the moment.
    #[error("the authorization server is temporarily unavailable: {url} answered {status}")]
    Unavailable {
        /// The URL.
        url: String,
        /// The status of the response.
        status: String,
    },
    /// The server requires more scopes again and again, or requires those that the token already has.
    #[error("the server doesn't accept the scopes of the tokens that the client obtained")]
    InsufficientScope,
    /// The server has refused every token that was obtained for it.
    #[error("the server refuses every token that the client obtained")]
    Rejected,
    /// A key can't be used.
    #[error("the key can't be used: {0}")]
    Key(String),
    /// The user couldn't be asked, or hasn't answered.
    #[error("asking the user failed: {0}")]
    UserAgent(BoxError),
    /// The source of assertions has failed.
    #[error("getting an assertion failed: {0}")]
    Assertion(BoxError),
    /// The store of tokens has failed.
    #[error("the token store failed: {0}")]
    Store(BoxError),
}

/// An excerpt of a description, for an error's text.
fn shown(text: &Option<String>) -> String {
    let shown = text.as_deref().map(|text| format!(": {}", excerpt(text.as_bytes())));
    shown.unwrap_or_default()
}
