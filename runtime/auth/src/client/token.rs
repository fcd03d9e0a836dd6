//! The responses of the token endpoint.

use serde::Deserialize;
use serde_json::Value;

use super::dpop::DpopKey;
use super::store::TokenType;
use crate::crypto::now;
use crate::error::AuthError;
use crate::fetch::Answer;
use crate::scopes::Scopes;
use crate::secret::Secret;

/// The maximum validity of a token, in seconds. Longer ones are reduced to it.
const MAX_LIFE: u64 = 10 * 365 * 24 * 60 * 60;

/// The tokens in a response.
#[derive(Debug)]
pub struct Tokens {
    pub access: Secret,
    pub token_type: TokenType,
    pub expires_at: Option<u64>,
    pub refresh: Option<Secret>,
    /// The scopes that were granted; `None` if they are the requested ones.
    pub scopes: Option<Scopes>,
}

#[derive(Deserialize)]
struct Response {
    access_token: Secret,
    token_type: String,
    expires_in: Option<Value>,
    refresh_token: Option<Secret>,
    scope: Option<Value>,
}

impl Tokens {
    /// Reads a response. `dpop` is the key to which the token may be bound.
    pub fn of(answer: &Answer, dpop: Option<&DpopKey>) -> Result<Self, AuthError> {
        let malformed = |why: &str| AuthError::Malformed {
            url: answer.url.to_string(),
            why: why.to_owned(),
        };
        let response: Response = answer.json()?;
        let token_type = match response.token_type.to_ascii_lowercase().as_str() {
            "bearer" => TokenType::Bearer,
            "dpop" if dpop.is_some() => TokenType::Dpop,
            _ => return Err(malformed("the type of the token isn't supported")),
        };
        let is_token =
            |token: &Secret| !token.expose().is_empty() && token.expose().bytes().all(|it| it.is_ascii_graphic());
        if !is_token(&response.access_token) {
            return Err(malformed("the token isn't valid in a header"));
        }
        // Some authorization servers send the number as text.
        let expires_in = response.expires_in.and_then(|seconds| match seconds {
            Value::String(text) => text.parse().ok(),
            Value::Number(number) => number.as_u64(),
            _ => None,
        });
        Ok(Self {
            access: response.access_token,
            token_type,
            expires_at: expires_in.map(|seconds: u64| now() + seconds.min(MAX_LIFE)),
            refresh: response.refresh_token,
            scopes: response.scope.as_ref().and_then(Value::as_str).map(Scopes::from),
        })
    }
}
