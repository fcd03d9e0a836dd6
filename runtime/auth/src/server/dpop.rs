//! Proofs that a client has the key to which its token is bound.

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

/// The bytes of a proof.
const MAX_PROOF: usize = 8 * 1024;
/// How long a proof is accepted, in seconds.
const LIFE: u64 = 60;
/// How much clocks may differ, in seconds.
const LEEWAY: u64 = 30;
/// The proofs that are remembered unless another number is chosen.
const CAPACITY: usize = 1 << 17;
/// What a key has that must not be shown.
const PRIVATE_MEMBERS: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// How a server takes tokens that are bound to a key of the client (DPoP): each request needs a proof that its sender has the key,
/// so that a token alone is of no use to others. [`ProtectedResource::dpop`](super::ProtectedResource::dpop) takes it.
///
/// A proof is accepted for one request, at most a minute and a half after it was made. The proofs that have been used are
/// remembered for two minutes, in the memory of this process unless there is a [`store`](Self::store).
/// [`nonce_key`](Self::nonce_key) keeps clients from making proofs in advance.
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
    /// The URLs of the request, any of which the proof may name.
    pub urls: &'a [Url],
    /// The access token.
    pub token: &'a str,
    /// The thumbprint of the key that the token is bound to.
    pub key: &'a str,
}

/// Why a proof isn't accepted.
#[derive(Debug)]
pub enum ProofError {
    /// It is malformed, or of another request.
    Invalid(&'static str),
    /// It has to repeat a nonce.
    Nonce,
    /// Nobody can say whether it has been used.
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
    /// Takes tokens that are bound to a key, and others too, without nonces.
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

    /// Sets the algorithms of proofs that are accepted, such as `ES256`. The default is ES256, ES384, EdDSA, PS256, RS256 and RS512.
    ///
    /// # Errors
    /// When one isn't known, or signs with a shared secret.
    pub fn algorithms(mut self, names: &[&str]) -> Result<Self, AuthError> {
        self.algorithms = algorithms(names)?;
        Ok(self)
    }

    /// Wants a nonce in each proof, which the server has given at most five minutes ago. They are signed with this key, which should
    /// have 32 random bytes or more, and which all instances of the server need.
    #[must_use]
    pub fn nonce_key(mut self, key: &[u8]) -> Self {
        self.nonces = Some(Nonces::new(key));
        self
    }

    /// Remembers the proofs that have been used in the memory of this process, and sets how many. One key may take an eighth of
    /// them; beyond that, its requests are refused with the status 503 until earlier proofs expire. The default is 131,072, which
    /// take some 15 MB.
    #[must_use]
    pub fn max_proofs(mut self, proofs: usize) -> Self {
        self.used = Arc::new(UsedProofs::new(proofs));
        self
    }

    /// Remembers the proofs that have been used in a store, so that a proof isn't accepted by one instance of the server after
    /// another. `RedisStore::proofs` gives one (feature `redis`). While it doesn't answer, requests with proofs get the status 503.
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

    /// The nonce that the next proof has to repeat, if the server wants one.
    pub(super) fn nonce(&self) -> Option<String> {
        self.nonces.as_ref().map(|nonces| nonces.at(now()))
    }

    /// Checks the proof of a request; whether its sender should get another nonce.
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
        // It is accepted in the second of its expiry as well, and the clocks of instances may differ.
        let lifetime = Duration::from_secs(expiry + 1 + LEEWAY - now);
        let id = base64url(&Sha256::digest(&claims.jti));
        match self.used.add(&key, &id, lifetime).await {
            Ok(true) => Ok(is_stale),
            Ok(false) => Err(ProofError::Invalid("the proof has been used")),
            Err(error) => Err(ProofError::Unavailable(error)),
        }
    }

    /// The thumbprint of the key that has signed a proof, and what the proof says.
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

/// The key in the header of a proof, if it is only a public one.
fn public_key(proof: &str) -> Option<Jwk> {
    let (header, _) = proof.split_once('.')?;
    let header: ProofHeader = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
    if PRIVATE_MEMBERS.iter().any(|member| header.jwk.contains_key(*member)) {
        return None;
    }
    serde_json::from_value(Value::Object(header.jwk)).ok()
}

/// Whether a text is one of these URLs, which have neither a query nor a fragment.
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
