//! Checking proofs that a client has the key to which its token is bound (DPoP).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{Jwk, ThumbprintHash};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use mcp_runtime_http::guard::ProofStore;
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::algorithms::{ALGORITHMS, algorithms};
use super::nonces::{NonceAge, Nonces};
use super::proofs::UsedProofs;
use crate::crypto::{base64url, now, use_provider};
use crate::dpop::PROOF_TYPE;
use crate::error::{AuthError, BoxError};

/// The maximum bytes of a proof.
const MAX_PROOF: usize = 8 * 1024;
/// The time for which a proof is accepted, in seconds.
const LIFE: u64 = 60;
/// The tolerated difference of clocks, in seconds.
const LEEWAY: u64 = 30;
/// The default number of proofs that are remembered.
const CAPACITY: usize = 1 << 17;
/// The members of a key that must not be public.
const PRIVATE_MEMBERS: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// A server's check of tokens that are bound to a key of the client (DPoP): each request needs a proof that its sender
/// has the key, so that a stolen token is useless without the key. It is set by
/// [`ProtectedResource::dpop`](super::ProtectedResource::dpop).
///
/// A proof is accepted for one request, at most a minute and a half after it was made. Used proofs are remembered for
/// two minutes, in the memory of this process unless there is a [`store`](Self::store). [`nonce_key`](Self::nonce_key)
/// prevents clients from making proofs in advance.
///
/// ```
/// use mcp_runtime::auth::{Dpop, JwtValidator, ProtectedResource};
///
/// let (resource, issuer) = ("https://mcp.example/mcp", "https://login.example");
/// let protected = ProtectedResource::new(resource, issuer, JwtValidator::new(issuer, resource))
///     .dpop(Dpop::new().required(true));
/// ```
///
/// [Specification](https://www.rfc-editor.org/rfc/rfc9449#section-4.3)
#[derive(Clone)]
pub struct Dpop {
    algorithms: Vec<Algorithm>,
    required: bool,
    nonces: Option<Nonces>,
    used: Arc<dyn ProofStore>,
}

/// The request that a proof is for.
pub struct ProvenRequest<'a> {
    /// Its HTTP method.
    pub method: &'a str,
    /// The URLs of the request. The proof has to name one of them.
    pub urls: &'a [Url],
    /// The access token.
    pub token: &'a str,
    /// The thumbprint of the key that the token is bound to.
    pub key: &'a str,
}

/// The reason why a proof isn't accepted.
#[derive(Debug)]
pub enum ProofError {
    /// The proof is malformed, or for another request.
    Invalid(&'static str),
    /// The proof has to contain a nonce.
    Nonce,
    /// The store couldn't check whether the proof has been used.
    Unavailable(BoxError),
}

#[derive(Deserialize)]
struct ProofHeader {
    jwk: Map<String, Value>,
}

#[derive(Deserialize)]
struct Claims {
    jti: String,
    htm: String,
    htu: String,
    iat: f64,
    ath: Option<String>,
    nonce: Option<String>,
}

impl Default for Dpop {
    fn default() -> Self {
        Self {
            algorithms: ALGORITHMS.to_vec(),
            required: false,
            nonces: None,
            used: Arc::new(UsedProofs::new(CAPACITY)),
        }
    }
}

impl Dpop {
    /// Creates a check that accepts tokens with and without a key, and requires no nonces.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether tokens that aren't bound to a key are refused.
    #[must_use]
    pub fn required(mut self, required: bool) -> Self {
        self.required = required;
        self
    }

    /// Sets the algorithms of proofs that are accepted, such as `ES256`. The default is ES256, ES384, EdDSA, PS256,
    /// RS256 and RS512.
    ///
    /// # Errors
    /// When one isn't supported, or signs with a shared secret.
    pub fn algorithms(mut self, names: &[&str]) -> Result<Self, AuthError> {
        self.algorithms = algorithms(names)?;
        Ok(self)
    }

    /// Requires a nonce in each proof, which the server has issued at most five minutes ago. Nonces are signed with
    /// this key, which should have at least 32 random bytes, and which all instances of the server need.
    #[must_use]
    pub fn nonce_key(mut self, key: &[u8]) -> Self {
        self.nonces = Some(Nonces::new(key));
        self
    }

    /// Sets the maximum number of used proofs that are remembered in the memory of this process. One key can have an
    /// eighth of them; beyond that, its requests are refused with the status 503 until earlier proofs expire. The
    /// default is 131,072, which need about 15 MB.
    #[must_use]
    pub fn max_proofs(mut self, proofs: usize) -> Self {
        self.used = Arc::new(UsedProofs::new(proofs));
        self
    }

    /// Sets a store that remembers used proofs, so that a proof isn't accepted by several instances of the server.
    /// `RedisStore::proofs` returns one (feature `redis`). While the store doesn't respond, requests with proofs get
    /// the status 503.
    #[must_use]
    pub fn store(mut self, store: impl ProofStore) -> Self {
        self.used = Arc::new(store);
        self
    }

    /// Whether tokens that aren't bound to a key are refused.
    pub(super) fn is_required(&self) -> bool {
        self.required
    }

    /// The names of the algorithms.
    pub(super) fn algorithm_names(&self) -> Vec<String> {
        self.algorithms.iter().map(|it| format!("{it:?}")).collect()
    }

    /// The nonce that the next proof has to contain, if the server requires one.
    pub(super) fn nonce(&self) -> Option<String> {
        self.nonces.as_ref().map(|nonces| nonces.at(now()))
    }

    /// Checks the proof of a request. Returns whether the client should get another nonce.
    pub(super) async fn check(&self, proof: &str, request: &ProvenRequest<'_>) -> Result<bool, ProofError> {
        let now = now();
        let (key, claims) = self.verified(proof)?;
        if key != request.key {
            return Err(ProofError::Invalid("the token is bound to another key"));
        }
        if claims.ath.as_deref() != Some(&*base64url(&Sha256::digest(request.token))) {
            return Err(ProofError::Invalid("the proof is for another token"));
        }
        if claims.htm != request.method {
            return Err(ProofError::Invalid("the proof is for another method"));
        }
        if !names(&claims.htu, request.urls) {
            return Err(ProofError::Invalid("the proof is for another URL"));
        }
        let made = claims.iat as u64;
        let expiry = made.saturating_add(LIFE + LEEWAY);
        if claims.iat < 0.0 || made > now.saturating_add(LEEWAY) || expiry < now {
            return Err(ProofError::Invalid("the proof was made at another time"));
        }
        let is_stale = match (&self.nonces, &claims.nonce) {
            (None, _) => false,
            (Some(_), None) => return Err(ProofError::Nonce),
            (Some(nonces), Some(nonce)) => match nonces.age(nonce, now) {
                NonceAge::Fresh => false,
                NonceAge::Stale => true,
                NonceAge::Refused => return Err(ProofError::Nonce),
            },
        };
        // A proof is still accepted in the second of its expiry, and the clocks of instances may differ.
        let lifetime = Duration::from_secs(expiry + 1 + LEEWAY - now);
        let id = base64url(&Sha256::digest(&claims.jti));
        match self.used.add(&key, &id, lifetime).await {
            Ok(true) => Ok(is_stale),
            Ok(false) => Err(ProofError::Invalid("the proof has been used")),
            Err(error) => Err(ProofError::Unavailable(error)),
        }
    }

    /// Verifies a proof. Returns the thumbprint of the key that has signed it, and its claims.
    fn verified(&self, proof: &str) -> Result<(String, Claims), ProofError> {
        use_provider();
        let malformed = || ProofError::Invalid("the proof is malformed");
        if proof.len() > MAX_PROOF {
            return Err(malformed());
        }
        let header = decode_header(proof).map_err(|_| malformed())?;
        if header.typ.as_deref() != Some(PROOF_TYPE) || header.crit.is_some() {
            return Err(ProofError::Invalid("the proof is of another type"));
        }
        if !self.algorithms.contains(&header.alg) {
            return Err(ProofError::Invalid("the algorithm of the proof isn't accepted"));
        }
        let key = public_key(proof).ok_or(ProofError::Invalid("the key of the proof can't be used"))?;
        let unusable = |_| ProofError::Invalid("the key of the proof can't be used");
        let decoding = DecodingKey::from_jwk(&key).map_err(unusable)?;
        let mut validation = Validation::new(header.alg);
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_aud = false;
        let claims = decode::<Claims>(proof, &decoding, &validation);
        let claims = claims.map_err(|_| ProofError::Invalid("the proof lacks a claim, or its signature is wrong"))?;
        let thumbprint = key.thumbprint(ThumbprintHash::SHA256).map_err(unusable)?;
        Ok((thumbprint, claims.claims))
    }
}

/// The key in the header of a proof, if it has no private members.
fn public_key(proof: &str) -> Option<Jwk> {
    let (header, _) = proof.split_once('.')?;
    let header: ProofHeader = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
    if PRIVATE_MEMBERS.iter().any(|member| header.jwk.contains_key(*member)) {
        return None;
    }
    serde_json::from_value(Value::Object(header.jwk)).ok()
}

/// Whether a text is one of these URLs, apart from its query and fragment. The URLs have neither.
fn names(text: &str, urls: &[Url]) -> bool {
    let Ok(mut url) = Url::parse(text) else {
        return false;
    };
    url.set_query(None);
    url.set_fragment(None);
    urls.contains(&url)
}

impl fmt::Debug for Dpop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dpop")
            .field("algorithms", &self.algorithms)
            .field("required", &self.required)
            .field("nonces", &self.nonces.is_some())
            .finish_non_exhaustive()
    }
}
