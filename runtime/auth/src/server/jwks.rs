//! The validation of JSON Web Tokens.

use std::fmt;

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation, decode, decode_header};
use mcp_runtime_util::BoxFuture;
use serde_json::{Map, Value};

use super::algorithms::{ALGORITHMS, algorithms};
use super::keys::IssuerKeys;
use super::validator::{TokenError, TokenInfo, TokenValidator};
use crate::crypto::use_provider;
use crate::error::AuthError;
use crate::scopes::Scopes;

/// The maximum bytes of a token.
const MAX_TOKEN: usize = 16 * 1024;
/// The tolerated difference of clocks, in seconds.
const LEEWAY: u64 = 30;

/// A validator of JSON Web Tokens of one issuer for one audience, which have to be signed with one of the issuer's keys
/// and mustn't have expired.
///
/// The keys are fetched when they are needed: with a timeout of 5 seconds, by one request at a time, and at least 30
/// seconds after the previous one. They are kept for 10 minutes, and for up to a day while they can't be fetched again.
/// Tokens with known keys don't wait while the keys for other tokens are fetched.
///
/// If a token is bound to a key of the client, [`TokenInfo::key_thumbprint`] is set; such a token is only valid with
/// the client's proof.
///
/// [Specification](https://www.rfc-editor.org/rfc/rfc9068#section-4)
pub struct JwtValidator {
    issuer: String,
    audience: String,
    algorithms: Vec<Algorithm>,
    keys: IssuerKeys,
}

impl JwtValidator {
    /// Creates a validator of this issuer's tokens for this audience, which identifies the server in the tokens: its
    /// URL, unless the issuer uses another name. The URL of the keys is that in the issuer's metadata.
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        let issuer = issuer.into();
        Self {
            keys: IssuerKeys::new(&issuer),
            issuer,
            audience: audience.into(),
            algorithms: ALGORITHMS.to_vec(),
        }
    }

    /// Sets the URL of the keys.
    #[must_use]
    pub fn jwks_uri(mut self, url: impl Into<String>) -> Self {
        self.keys.source.jwks_uri = Some(url.into());
        self
    }

    /// Sets the keys, as a JSON Web Key Set. Then no keys are fetched.
    ///
    /// # Errors
    /// When it isn't a JSON Web Key Set.
    pub fn jwks(mut self, json: &str) -> Result<Self, AuthError> {
        let keys = serde_json::from_str(json).map_err(|error| AuthError::Key(error.to_string()))?;
        self.keys.fix(keys);
        Ok(self)
    }

    /// Sets the algorithms that are accepted, such as `ES256`. The default is ES256, ES384, EdDSA, PS256, RS256 and
    /// RS512.
    ///
    /// # Errors
    /// When one isn't supported, or signs with a shared secret.
    pub fn algorithms(mut self, names: &[&str]) -> Result<Self, AuthError> {
        self.algorithms = algorithms(names)?;
        Ok(self)
    }

    /// Allows an issuer at any address except for link-local ones, and without TLS, such as one of a private network.
    #[must_use]
    pub fn allow_private_network(mut self, allowed: bool) -> Self {
        self.keys.source.private_network = allowed;
        self
    }

    async fn check(&self, token: &str) -> Result<TokenInfo, TokenError> {
        use_provider();
        if token.len() > MAX_TOKEN {
            return Err(TokenError::Invalid("the token is too long"));
        }
        let header = decode_header(token).map_err(|_| TokenError::Invalid("the token is malformed"))?;
        self.check_header(&header)?;
        let key = self.keys.find(&header).await?;
        let key = DecodingKey::from_jwk(&key).map_err(|_| TokenError::Invalid("the key of the token can't be used"))?;
        let mut validation = Validation::new(header.alg);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        let claims = decode::<Map<String, Value>>(token, &key, &validation);
        info(claims.map_err(|error| refusal(error.kind()))?.claims)
    }

    fn check_header(&self, header: &Header) -> Result<(), TokenError> {
        if !self.algorithms.contains(&header.alg) {
            return Err(TokenError::Invalid("the algorithm of the token isn't accepted"));
        }
        let typ = header.typ.as_deref().map(str::to_ascii_lowercase);
        let is_access_token = matches!(typ.as_deref(), None | Some("jwt" | "at+jwt" | "application/at+jwt"));
        match is_access_token && header.crit.is_none() {
            true => Ok(()),
            false => Err(TokenError::Invalid("the token is of another type")),
        }
    }
}

/// Converts the claims of a valid token.
fn info(mut claims: Map<String, Value>) -> Result<TokenInfo, TokenError> {
    let key_thumbprint = claims.remove("cnf").map(key_thumbprint).transpose()?;
    let mut text = |name: &str| match claims.remove(name) {
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(TokenError::Invalid("a claim of the token isn't a string")),
        None => Ok(None),
    };
    // The library that has checked the issuer also accepts a list of issuers.
    let issuer = text("iss")?.ok_or(TokenError::Invalid("the token lacks a claim"))?;
    let (subject, client_id) = (text("sub")?, text("client_id")?);
    let client_id = client_id.map_or_else(|| text("azp"), |id| Ok(Some(id)))?;
    let scopes = claims.remove("scope").or_else(|| claims.remove("scp"));
    let subject = subject.or_else(|| client_id.clone());
    Ok(TokenInfo {
        issuer,
        subject: subject.ok_or(TokenError::Invalid("the token has no subject"))?,
        client_id,
        scopes: match scopes {
            Some(Value::String(scopes)) => scopes.into(),
            Some(Value::Array(scopes)) => scopes.iter().filter_map(Value::as_str).collect(),
            _ => Scopes::default(),
        },
        expires_at: claims.remove("exp").and_then(|end| end.as_u64()),
        key_thumbprint,
        claims,
    })
}

/// The thumbprint of the key that a token is bound to.
fn key_thumbprint(confirmation: Value) -> Result<String, TokenError> {
    match confirmation.get("jkt") {
        Some(Value::String(thumbprint)) if confirmation.as_object().is_some_and(|it| it.len() == 1) => {
            Ok(thumbprint.clone())
        }
        _ => Err(TokenError::Invalid("the token is bound in another way than to a key")),
    }
}

fn refusal(kind: &ErrorKind) -> TokenError {
    TokenError::Invalid(match kind {
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token isn't valid yet",
        ErrorKind::InvalidAudience => "the token is for another audience",
        ErrorKind::InvalidIssuer => "the token is of another issuer",
        ErrorKind::InvalidSignature => "the signature of the token is wrong",
        ErrorKind::MissingRequiredClaim(_) => "the token lacks a claim",
        _ => "the token is malformed",
    })
}

impl TokenValidator for JwtValidator {
    fn validate<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<TokenInfo, TokenError>> {
        Box::pin(self.check(token))
    }
}

impl fmt::Debug for JwtValidator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwtValidator")
            .field("issuer", &self.issuer)
            .field("audience", &self.audience)
            .field("algorithms", &self.algorithms)
            .finish_non_exhaustive()
    }
}
