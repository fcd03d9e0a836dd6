//! Creating proofs that a client has the key to which its tokens are bound (DPoP).

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::jwk::Jwk;
use reqwest::Url;
use reqwest::header::HeaderValue;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::crypto::{base64url, now, use_provider};
use crate::dpop::PROOF_TYPE;
use crate::error::AuthError;
use crate::jwt::{SigningKey, random_text};
use crate::secret::Secret;

/// The algorithm of the keys.
pub const ALGORITHM: &str = "ES256";

/// A key to which tokens are bound.
#[derive(Debug, Clone)]
pub struct DpopKey {
    key: SigningKey,
    stored: Secret,
}

/// The claims of a proof.
#[derive(Serialize)]
struct Claims<'a> {
    jti: String,
    htm: &'a str,
    htu: &'a str,
    iat: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ath: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a str>,
}

impl DpopKey {
    /// Generates a new key.
    pub fn generate() -> Result<Self, AuthError> {
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        let document = document.map_err(|error| AuthError::Key(error.to_string()))?;
        Ok(Self::of(document.as_ref()))
    }

    /// Reads a key from its stored form.
    pub fn stored(stored: &Secret) -> Result<Self, AuthError> {
        let der = STANDARD.decode(stored.expose());
        let der = der.map_err(|_| AuthError::Key("the stored key isn't base64".to_owned()))?;
        Ok(Self::of(&der))
    }

    fn of(der: &[u8]) -> Self {
        Self {
            key: SigningKey::from_es256_der(der),
            stored: STANDARD.encode(der).into(),
        }
    }

    /// The form in which the key is stored.
    pub fn to_stored(&self) -> Secret {
        self.stored.clone()
    }

    /// Makes a proof for one request and for the token that it contains, if any.
    pub fn proof(
        &self,
        method: &str,
        url: &Url,
        nonce: Option<&HeaderValue>,
        token: Option<&Secret>,
    ) -> Result<HeaderValue, AuthError> {
        use_provider();
        let (key, algorithm) = self.key.encoding_key();
        let mut public = Jwk::from_encoding_key(key, algorithm).map_err(|error| AuthError::Key(error.to_string()))?;
        // The algorithm is already in the header.
        public.common.key_algorithm = None;
        let mut header = self.key.header(PROOF_TYPE);
        header.jwk = Some(public);
        let mut url = url.clone();
        url.set_query(None);
        url.set_fragment(None);
        let proof = self.key.sign(
            &header,
            &Claims {
                jti: random_text()?,
                htm: method,
                htu: url.as_str(),
                iat: now(),
                ath: token.map(|token| base64url(&Sha256::digest(token.expose()))),
                nonce: nonce.and_then(|nonce| nonce.to_str().ok()),
            },
        )?;
        HeaderValue::from_str(&proof).map_err(|error| AuthError::Key(error.to_string()))
    }
}
