//! The validation of tokens, and their contents.

use mcp_runtime_util::BoxFuture;
use serde_json::{Map, Value};

use crate::scopes::Scopes;

/// The contents of a valid token.
///
/// The token itself is only passed to the validator, so that handlers can't forward it to another server.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TokenInfo {
    /// The issuer of the token.
    pub issuer: String,
    /// The subject that the client acts for: a user of the issuer, or the client itself.
    pub subject: String,
    /// The id of the client, if the token contains it.
    pub client_id: Option<String>,
    /// The scopes of the token.
    pub scopes: Scopes,
    /// The expiry of the token, in seconds since the epoch.
    pub expires_at: Option<u64>,
    /// The thumbprint of the key that the token is bound to (`jkt` of its confirmation). Such a token is only valid
    /// together with a proof, which a server with [`ProtectedResource::dpop`](super::ProtectedResource::dpop) checks.
    ///
    /// [Specification](https://www.rfc-editor.org/rfc/rfc9449#section-6)
    pub key_thumbprint: Option<String>,
    /// The other claims of the token.
    pub claims: Map<String, Value>,
}

impl TokenInfo {
    /// The contents of a minimal token: its issuer and its subject.
    #[must_use]
    pub fn new(issuer: impl Into<String>, subject: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            subject: subject.into(),
            ..Self::default()
        }
    }

    /// Sets the scopes of the token.
    #[must_use]
    pub fn with_scopes(mut self, scopes: impl Into<Scopes>) -> Self {
        self.scopes = scopes.into();
        self
    }

    /// Sets the thumbprint of the key that the token is bound to.
    #[must_use]
    pub fn with_key_thumbprint(mut self, thumbprint: impl Into<String>) -> Self {
        self.key_thumbprint = Some(thumbprint.into());
        self
    }

    /// The [principal](mcp_runtime_core::transport::Principal) that sessions belong to: the issuer and the subject. Two
    /// issuers can have subjects with the same name.
    #[must_use]
    pub fn principal(&self) -> String {
        format!("{} {}", self.issuer, self.subject)
    }
}

/// The reason why a token isn't accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The token is malformed, expired, or not for this server. The reason is sent to the client, so it must not
    /// contain any part of the token.
    #[error("{0}")]
    Invalid(&'static str),
    /// The token can't be checked at the moment.
    #[error("the token can't be checked: {0}")]
    Unavailable(String),
}

/// Checks the tokens of clients.
///
/// A validator has to refuse tokens that were issued for other servers.
///
/// [Specification](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-handling)
pub trait TokenValidator: Send + Sync + 'static {
    /// Returns the contents of a token, if it is valid.
    fn validate<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<TokenInfo, TokenError>>;
}
