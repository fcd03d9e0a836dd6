//! What a server learns from a token.

use mcp_runtime_util::BoxFuture;
use serde_json::{Map, Value};

use crate::scopes::Scopes;

/// What a valid token says of the client that sends it.
///
/// The token itself goes no further than to the validator, so that nobody passes it on to another server.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TokenInfo {
    /// The issuer of the token.
    pub issuer: String,
    /// Whom the client acts for: a user of the issuer, or itself.
    pub subject: String,
    /// The id of the client, if the token says so.
    pub client_id: Option<String>,
    /// What the token permits.
    pub scopes: Scopes,
    /// When the token expires, in seconds since the epoch.
    pub expires_at: Option<u64>,
    /// The thumbprint of the key that the token is bound to (`jkt` of its confirmation). Such a token is valid only together with a
    /// proof, which [`ProtectedResource::dpop`](super::ProtectedResource::dpop) has the server check.
    ///
    /// [Specification](https://www.rfc-editor.org/rfc/rfc9449#section-6)
    pub key_thumbprint: Option<String>,
    /// Whatever else the token says.
    pub claims: Map<String, Value>,
}

impl TokenInfo {
    /// What a token says at least: who has issued it for whom.
    #[must_use]
    pub fn new(issuer: impl Into<String>, subject: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            subject: subject.into(),
            ..Self::default()
        }
    }

    /// Sets what the token permits.
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

    /// The [principal](mcp_runtime_core::transport::Principal) that sessions belong to: a subject of an issuer. Two issuers may have
    /// subjects of the same name.
    #[must_use]
    pub fn principal(&self) -> String {
        format!("{} {}", self.issuer, self.subject)
    }
}

/// Why a token isn't accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It is malformed, expired, or not for this server. The client is told the reason, which must have nothing of the token.
    #[error("{0}")]
    Invalid(&'static str),
    /// It can't be checked at the moment.
    #[error("the token can't be checked: {0}")]
    Unavailable(String),
}

/// Checks the tokens of clients.
///
/// A validator has to refuse tokens that were issued for other servers.
///
/// [Specification](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-handling)
pub trait TokenValidator: Send + Sync + 'static {
    /// What a token says, if it is valid.
    fn validate<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<TokenInfo, TokenError>>;
}
