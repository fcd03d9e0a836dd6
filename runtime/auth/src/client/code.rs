//! The authorization code grant: the user is asked, and the client gets a code that it exchanges for a token.

use reqwest::Url;
use sha2::{Digest as _, Sha256};

use super::discovery::Target;
use super::endpoint::KnownClient;
use super::user_agent::{UserAgent, parameter};
use crate::crypto::base64url;
use crate::error::AuthError;
use crate::fetch::Fetcher;
use crate::jwt::random_text;
use crate::scopes::Scopes;

/// Asks the user, and returns the form of the token request.
pub async fn authorization_code(
    user: &dyn UserAgent,
    fetcher: &Fetcher,
    target: &Target,
    client: &KnownClient,
    scopes: &Scopes,
) -> Result<Vec<(&'static str, String)>, AuthError> {
    let not_offered = |what| AuthError::NotOffered {
        issuer: target.issuer.clone(),
        what,
    };
    if !target.metadata.supports_pkce() {
        return Err(not_offered("PKCE with S256"));
    }
    let endpoint = target.metadata.authorization_endpoint.as_deref();
    let mut url = fetcher.check(endpoint.ok_or_else(|| not_offered("authorization endpoint"))?)?;
    let (verifier, state) = (random_text()?, random_text()?);
    let redirect_uri = user.redirect_uri();
    {
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.id)
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("state", &state)
            .append_pair("code_challenge", &base64url(&Sha256::digest(&verifier)))
            .append_pair("code_challenge_method", "S256");
        if !scopes.is_empty() {
            query.append_pair("scope", &scopes.to_string());
        }
        if let Some(resource) = &target.resource {
            query.append_pair("resource", resource);
        }
        if scopes.includes(&Scopes::from(["offline_access"])) {
            // OpenID Connect issues no refresh token without this.
            query.append_pair("prompt", "consent");
        }
    }
    let redirect = user.authorize(&url).await.map_err(AuthError::UserAgent)?;
    let code = code_of(&redirect, target, &state)?;
    Ok(vec![
        ("grant_type", "authorization_code".to_owned()),
        ("code", code),
        ("redirect_uri", redirect_uri.to_owned()),
        ("code_verifier", verifier),
    ])
}

/// The code of a redirect. First checks that it comes from the right authorization server, before any other parameter
/// is used.
fn code_of(redirect: &Url, target: &Target, state: &str) -> Result<String, AuthError> {
    if parameter(redirect, "state").as_deref() != Some(state) {
        return Err(AuthError::State);
    }
    let issuer = parameter(redirect, "iss");
    let must_name_itself = target.metadata.authorization_response_iss_parameter_supported == Some(true);
    if (issuer.is_some() || must_name_itself) && issuer.as_deref() != Some(&target.issuer) {
        return Err(AuthError::IssuerMismatch {
            expected: target.issuer.clone(),
            found: issuer.unwrap_or_default(),
        });
    }
    if let Some(error) = parameter(redirect, "error") {
        return Err(AuthError::Refused {
            code: mcp_runtime_util::excerpt(error.as_bytes()),
            description: parameter(redirect, "error_description"),
        });
    }
    parameter(redirect, "code").ok_or(AuthError::State)
}
