//! The errors of authorization.

use mcp_runtime_util::excerpt;

/// An error of any kind.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a client isn't authorized.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// A URL of a server can't be used.
    #[error("the URL {url:?} can't be used for authorization: {why}")]
    Url {
        /// The URL.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A host has only addresses that the server may not send its clients to: those of a private network, unless that is allowed,
    /// link-local ones, and those where clouds have their metadata.
    #[error("{0} is at no public address; see `Authorizer::allow_private_network`")]
    Blocked(String),
    /// A server couldn't be reached, or didn't answer in time.
    #[error("{url} can't be reached: {why}")]
    Network {
        /// The URL.
        url: String,
        /// The reason.
        why: String,
    },
    /// An answer is too long.
    #[error("the answer of {0} is too long")]
    TooLarge(String),
    /// An answer isn't what it has to be.
    #[error("the answer of {url} can't be used: {why}")]
    Malformed {
        /// The URL.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is no metadata that says how to authorize.
    #[error("there is no metadata that says how to be authorized for {0}")]
    NoMetadata(String),
    /// The metadata are those of another resource.
    #[error("the metadata are about {found:?}, which {server} isn't part of")]
    ResourceMismatch {
        /// The URL of the server.
        server: String,
        /// The resource of the metadata.
        found: String,
    },
    /// An authorization server is another than the expected one.
    #[error("the authorization server is {found:?}, and not {expected:?} as expected")]
    IssuerMismatch {
        /// The issuer that is expected.
        expected: String,
        /// The issuer that was named; empty for none.
        found: String,
    },
    /// The authorization server doesn't have what the protocol needs of it.
    #[error("the authorization server {issuer} has no {what}")]
    NotOffered {
        /// The authorization server.
        issuer: String,
        /// What it lacks.
        what: &'static str,
    },
    /// There is no client id for an authorization server.
    #[error("there is no client id for {0}: register a client there, and name it in the options")]
    NoClient(String),
    /// The redirect doesn't belong to the request for authorization.
    #[error("the redirect doesn't belong to the request for authorization")]
    State,
    /// The authorization server has refused the request.
    #[error("the authorization server refuses: {code}{}", shown(.description))]
    Refused {
        /// The code of the error, such as `access_denied`.
        code: String,
        /// What the authorization server says about it.
        description: Option<String>,
    },
    /// The server wants more scopes, again and again, or wants those that it has been given.
    #[error("the server isn't content with the scopes that the client was given")]
    InsufficientScope,
    /// The server has refused every token that was obtained for it.
    #[error("the server refuses every token that the client was given")]
    Rejected,
    /// A key can't be used.
    #[error("the key can't be used: {0}")]
    Key(String),
    /// The user couldn't be asked, or hasn't answered.
    #[error("the user wasn't asked: {0}")]
    UserAgent(BoxError),
    /// The source of assertions has failed.
    #[error("there is no assertion: {0}")]
    Assertion(BoxError),
    /// The store of tokens has failed.
    #[error("the token store failed: {0}")]
    Store(BoxError),
}

/// A part of an error's text, as it may be shown.
fn shown(text: &Option<String>) -> String {
    let shown = text.as_deref().map(|text| format!(": {}", excerpt(text.as_bytes())));
    shown.unwrap_or_default()
}
