//! Tokens that are signed: JSON Web Tokens.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation, decode, decode_header};
use reqwest::Url;
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::algorithms::{ALGORITHMS, algorithms};
use super::validator::{TokenError, TokenInfo, TokenValidator};
use crate::auth::address::Reach;
use crate::auth::crypto::use_provider;
use crate::auth::discovery::server_metadata;
use crate::auth::error::AuthError;
use crate::auth::fetch::Fetcher;
use crate::auth::scopes::Scopes;
use crate::future::BoxFuture;

/// The bytes of a token.
const MAX_TOKEN: usize = 16 * 1024;
/// The keys of an issuer.
const MAX_KEYS: usize = 256;
/// How long keys are used before they are fetched again.
const FRESH: Duration = Duration::from_secs(10 * 60);
/// How long they are used if that fails.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long is waited before another attempt, whatever tokens come.
const PAUSE: Duration = Duration::from_secs(30);
/// How much clocks may differ, in seconds.
const LEEWAY: u64 = 30;
/// Accepts JSON Web Tokens of one issuer for one audience, which are signed with one of the issuer's keys and haven't expired.
///
/// The keys are fetched when they are needed, at most every 30 seconds, and kept for 10 minutes. Of a token that is bound to a key
/// of the client, [`TokenInfo::key_thumbprint`] says so; it is of no use without the client's proof.
///
/// [Specification](https://www.rfc-editor.org/rfc/rfc9068#section-4)
pub struct JwtValidator {
    issuer: String,
    audience: String,
    algorithms: Vec<Algorithm>,
    jwks_uri: Option<String>,
    private_network: bool,
    keys: Mutex<Keys>,
}

#[derive(Default)]
struct Keys {
    known: Option<(Instant, Arc<JwkSet>)>,
    attempted: Option<Instant>,
    /// They were given, and are never fetched.
    are_fixed: bool,
}

impl JwtValidator {
    /// Accepts tokens of this issuer for this audience, which is how they name the server: its URL, unless the issuer has another
    /// name for it. The metadata of the issuer say where its keys are.
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            audience: audience.into(),
            algorithms: ALGORITHMS.to_vec(),
            jwks_uri: None,
            private_network: false,
            keys: Mutex::default(),
        }
    }

    /// Sets the URL of the keys.
    #[must_use]
    pub fn jwks_uri(mut self, url: impl Into<String>) -> Self {
        self.jwks_uri = Some(url.into());
        self
    }

    /// Sets the keys, a JSON Web Key Set. Then none are fetched.
    ///
    /// # Errors
    /// When it isn't one.
    pub fn jwks(mut self, json: &str) -> Result<Self, AuthError> {
        let keys: JwkSet = serde_json::from_str(json).map_err(|error| AuthError::Key(error.to_string()))?;
        *self.keys.get_mut() = Keys {
            known: Some((Instant::now(), Arc::new(keys))),
            attempted: None,
            are_fixed: true,
        };
        Ok(self)
    }

    /// Sets the algorithms that are accepted, such as `ES256`. The default is ES256, ES384, EdDSA, PS256, RS256 and RS512.
    ///
    /// # Errors
    /// When one isn't known, or signs with a shared secret.
    pub fn algorithms(mut self, names: &[&str]) -> Result<Self, AuthError> {
        self.algorithms = algorithms(names)?;
        Ok(self)
    }

    /// Allows an issuer at any address and without TLS, such as one of a private network, but for link-local addresses.
    #[must_use]
    pub fn allow_private_network(mut self, allowed: bool) -> Self {
        self.private_network = allowed;
        self
    }

    async fn check(&self, token: &str) -> Result<TokenInfo, TokenError> {
        use_provider();
        if token.len() > MAX_TOKEN {
            return Err(TokenError::Invalid("the token is too long"));
        }
        let header = decode_header(token).map_err(|_| TokenError::Invalid("the token is malformed"))?;
        self.check_header(&header)?;
        let key = self.key(&header).await?;
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

    /// The key that has signed a token by its header. If it isn't known, the issuer's keys are fetched.
    async fn key(&self, header: &Header) -> Result<Jwk, TokenError> {
        let mut keys = self.keys.lock().await;
        let is_fresh = |(fetched, _): &(Instant, _)| fetched.elapsed() < FRESH;
        let known = keys.known.as_ref().filter(|known| keys.are_fixed || is_fresh(known));
        if let Some(key) = known.and_then(|(_, known)| find(known, header)) {
            return Ok(key);
        }
        let may_fetch = !keys.are_fixed && keys.attempted.is_none_or(|attempted| attempted.elapsed() >= PAUSE);
        if may_fetch {
            keys.attempted = Some(Instant::now());
            match self.fetch().await {
                Ok(fetched) => keys.known = Some((Instant::now(), Arc::new(fetched))),
                Err(error) => tracing::warn!(%error, "the keys of the issuer can't be fetched"),
            }
        }
        let usable = keys
            .known
            .as_ref()
            .filter(|(fetched, _)| keys.are_fixed || fetched.elapsed() < STALE);
        match usable {
            Some((_, known)) => find(known, header).ok_or(TokenError::Invalid("the key of the token isn't known")),
            None => Err(TokenError::Unavailable(
                "the keys of the issuer can't be fetched".to_owned(),
            )),
        }
    }

    async fn fetch(&self) -> Result<JwkSet, AuthError> {
        let named = self.jwks_uri.as_ref().unwrap_or(&self.issuer);
        let url = Url::parse(named).map_err(|_| AuthError::Url {
            url: named.clone(),
            why: "it isn't absolute",
        })?;
        let reach = match self.private_network {
            true => Reach::Any,
            false => Reach::of(&url),
        };
        let fetcher = Fetcher::new(reach, None)?;
        let place = match &self.jwks_uri {
            Some(place) => Some(place.clone()),
            None => server_metadata(&fetcher, &self.issuer).await?.jwks_uri,
        };
        let place = place.ok_or_else(|| AuthError::NotOffered {
            issuer: self.issuer.clone(),
            what: "`jwks_uri`",
        })?;
        let answer = fetcher.get(&place).await?;
        let mut keys: JwkSet = answer.ok_or(AuthError::NoMetadata(place))?.json()?;
        keys.keys.truncate(MAX_KEYS);
        Ok(keys)
    }
}

/// The key with the id that a token names. A token that names none can only be of an issuer with one key for its algorithm.
fn find(keys: &JwkSet, header: &Header) -> Option<Jwk> {
    let algorithm = header.alg.into();
    let mut usable = keys.keys.iter().filter(|key| {
        let common = &key.common;
        let signs = common
            .public_key_use
            .as_ref()
            .is_none_or(|of| *of == PublicKeyUse::Signature);
        signs && common.key_algorithm.is_none_or(|its| its == algorithm)
    });
    match &header.kid {
        Some(id) => usable.find(|key| key.common.key_id.as_ref() == Some(id)).cloned(),
        None => usable.next().filter(|_| usable.next().is_none()).cloned(),
    }
}

/// What the claims of a valid token say.
fn info(mut claims: Map<String, Value>) -> Result<TokenInfo, TokenError> {
    let key_thumbprint = claims.remove("cnf").map(key_thumbprint).transpose()?;
    let mut text = |name: &str| match claims.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let (issuer, subject, client_id) = (text("iss"), text("sub"), text("client_id").or_else(|| text("azp")));
    let scopes = claims.remove("scope").or_else(|| claims.remove("scp"));
    let subject = subject.or_else(|| client_id.clone());
    Ok(TokenInfo {
        issuer: issuer.unwrap_or_default(),
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
