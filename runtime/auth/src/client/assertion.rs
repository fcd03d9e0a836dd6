//! Assertions that are exchanged for a token: those of a workload, or of an organization's identity provider.

use mcp_runtime_util::BoxFuture;
use reqwest::Url;
use serde::Deserialize;

use super::endpoint::{ClientAuth, KnownClient, TokenEndpoint};
use crate::address::AddressPolicy;
use crate::error::{AuthError, BoxError};
use crate::fetch::Fetcher;
use crate::scopes::Scopes;
use crate::secret::Secret;

const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// The purpose of an assertion.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AssertionRequest {
    /// The authorization server that will receive the assertion: its audience.
    pub issuer: String,
    /// The resource that the token is for.
    pub resource: Option<String>,
    /// The scopes that the token needs.
    pub scopes: Scopes,
}

/// A source of assertions, which an authorization server exchanges for tokens. An assertion is a signed JSON Web Token.
///
/// Functions are sources too: `|_| async { Ok(token.into()) }`.
///
/// [Specification](https://www.rfc-editor.org/rfc/rfc7523#section-2.1)
pub trait AssertionSource: Send + Sync + 'static {
    /// Returns an assertion for this purpose.
    fn assertion(&self, request: AssertionRequest) -> BoxFuture<'_, Result<Secret, BoxError>>;
}

impl<S, F> AssertionSource for S
where
    S: Fn(AssertionRequest) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Secret, BoxError>> + Send + 'static,
{
    fn assertion(&self, request: AssertionRequest) -> BoxFuture<'_, Result<Secret, BoxError>> {
        Box::pin(self(request))
    }
}

/// The identity provider of an organization, which exchanges the ID token of a user for an assertion. There, the
/// organization decides which servers its users may use. The users aren't asked for consent again.
///
/// [Specification](https://github.com/modelcontextprotocol/ext-auth/blob/main/specification/draft/enterprise-managed-authorization.mdx)
#[derive(Debug, Clone)]
pub struct IdentityProvider {
    token_endpoint: String,
    client_id: String,
    secret: Option<Secret>,
    id_token: Secret,
}

impl IdentityProvider {
    /// The identity provider with this token endpoint and this client id, and the user's ID token.
    pub fn new(token_endpoint: impl Into<String>, client_id: impl Into<String>, id_token: impl Into<Secret>) -> Self {
        Self {
            token_endpoint: token_endpoint.into(),
            client_id: client_id.into(),
            secret: None,
            id_token: id_token.into(),
        }
    }

    /// Sets the client's secret at the identity provider.
    #[must_use]
    pub fn secret(mut self, secret: impl Into<Secret>) -> Self {
        self.secret = Some(secret.into());
        self
    }

    async fn exchange(&self, request: AssertionRequest) -> Result<Secret, AuthError> {
        #[derive(Deserialize)]
        struct Response {
            access_token: Secret,
            issued_token_type: String,
        }
        let url = Url::parse(&self.token_endpoint).map_err(|_| AuthError::Url {
            url: self.token_endpoint.clone(),
            why: "it isn't absolute",
        })?;
        let client = KnownClient {
            id: self.client_id.clone(),
            auth: self.secret.clone().map_or(ClientAuth::None, ClientAuth::Post),
        };
        let endpoint = TokenEndpoint {
            fetcher: &Fetcher::new(AddressPolicy::of(&url), None)?,
            issuer: &self.token_endpoint,
            url: &self.token_endpoint,
            client: &client,
            dpop: None,
        };
        let mut form = vec![
            ("grant_type", TOKEN_EXCHANGE.to_owned()),
            ("requested_token_type", ID_JAG.to_owned()),
            ("audience", request.issuer),
            ("subject_token", self.id_token.expose().to_owned()),
            ("subject_token_type", ID_TOKEN.to_owned()),
        ];
        form.extend(request.resource.map(|resource| ("resource", resource)));
        if !request.scopes.is_empty() {
            form.push(("scope", request.scopes.to_string()));
        }
        let answer = endpoint.request(form).await?;
        let response: Response = answer.json()?;
        match response.issued_token_type == ID_JAG {
            true => Ok(response.access_token),
            false => Err(AuthError::Malformed {
                url: self.token_endpoint.clone(),
                why: "it doesn't contain the requested assertion".to_owned(),
            }),
        }
    }
}

impl AssertionSource for IdentityProvider {
    fn assertion(&self, request: AssertionRequest) -> BoxFuture<'_, Result<Secret, BoxError>> {
        Box::pin(async move { Ok(self.exchange(request).await?) })
    }
}
