//! The metadata of protected resources and of authorization servers.

use serde::{Deserialize, Deserializer, Serialize};

use super::scopes::Scopes;

/// The method of PKCE that the protocol requires.
pub const S256: &str = "S256";

/// The metadata of a protected resource.
///
/// [Specification](https://www.rfc-editor.org/rfc/rfc9728#section-2)
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceMetadata {
    /// The identifier of the resource in tokens.
    pub resource: String,
    /// The issuers of its tokens.
    #[serde(default, deserialize_with = "list_or_null")]
    pub authorization_servers: Vec<String>,
    /// The scopes that a client needs for the basic functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes_supported: Option<Vec<String>>,
    /// The ways in which a token may be sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "list_or_null")]
    pub bearer_methods_supported: Vec<String>,
    /// The algorithms of proofs that the resource accepts with tokens that are bound to a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
    /// Whether tokens that aren't bound to a key are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpop_bound_access_tokens_required: Option<bool>,
    /// The name of the resource, for people to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_name: Option<String>,
}

/// Reads a list. Some servers send `null` in place of a list that they don't have.
fn list_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// The part of an authorization server's metadata that this crate uses.
///
/// [Specification](https://www.rfc-editor.org/rfc/rfc8414#section-2)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ServerMetadata {
    pub issuer: String,
    pub authorization_endpoint: Option<String>,
    pub token_endpoint: Option<String>,
    pub registration_endpoint: Option<String>,
    pub jwks_uri: Option<String>,
    pub scopes_supported: Option<Vec<String>>,
    pub code_challenge_methods_supported: Option<Vec<String>>,
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    pub client_id_metadata_document_supported: Option<bool>,
    pub authorization_response_iss_parameter_supported: Option<bool>,
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
}

impl ServerMetadata {
    /// Whether the authorization server supports the method of PKCE that the protocol requires.
    pub fn supports_pkce(&self) -> bool {
        let methods = self.code_challenge_methods_supported.iter().flatten();
        methods.into_iter().any(|method| method == S256)
    }

    /// Whether the authorization server lists this scope.
    pub fn supports_scope(&self, scope: &str) -> bool {
        let scopes: Scopes = self.scopes_supported.iter().flatten().cloned().collect();
        scopes.includes(&Scopes::from([scope]))
    }

    /// Whether the authorization server lists this method for the authentication of clients at its token endpoint.
    pub fn supports_auth_method(&self, method: &str) -> bool {
        let methods = self.token_endpoint_auth_methods_supported.iter().flatten();
        methods.into_iter().any(|its| its == method)
    }
}
