//! Signed JSON Web Tokens.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::{Algorithm, AlgorithmFamily, EncodingKey, Header};
use serde::Serialize;

use super::crypto::{base64url, use_provider};
use super::error::AuthError;

/// A private key, and the algorithm of its signatures.
#[derive(Clone)]
pub struct SigningKey {
    algorithm: Algorithm,
    key: EncodingKey,
    key_id: Option<String>,
}

impl SigningKey {
    /// Reads a key in PEM, which contains a PKCS #8 or an RSA key. The algorithm is that of the signatures, such as
    /// `ES256`, `RS256` or `EdDSA`.
    ///
    /// # Errors
    /// When the algorithm isn't supported, or the PEM doesn't contain a key for it.
    pub fn from_pem(algorithm: &str, pem: &str) -> Result<Self, AuthError> {
        let unknown = || AuthError::Key(format!("the algorithm {algorithm} isn't supported"));
        let algorithm: Algorithm = algorithm.parse().map_err(|_| unknown())?;
        let der = der_of_pem(pem).ok_or_else(|| AuthError::Key("it isn't a private key in PEM".to_owned()))?;
        let key = match algorithm.family() {
            AlgorithmFamily::Hmac => return Err(unknown()),
            AlgorithmFamily::Rsa => EncodingKey::from_rsa_der(rsa_key(&der).unwrap_or(&der)),
            AlgorithmFamily::Ec => EncodingKey::from_ec_der(&der),
            AlgorithmFamily::Ed => EncodingKey::from_ed_der(&der),
        };
        let key = Self {
            algorithm,
            key,
            key_id: None,
        };
        // Signs once to check the key, because the library parses keys only when they sign.
        key.sign(&key.header("JWT"), &serde_json::json!({}))?;
        Ok(key)
    }

    /// The ES256 key in a PKCS #8.
    pub(crate) fn from_es256_der(der: &[u8]) -> Self {
        Self {
            algorithm: Algorithm::ES256,
            key: EncodingKey::from_ec_der(der),
            key_id: None,
        }
    }

    /// Sets the id of the key, by which the authorization server finds it among those of the client.
    #[must_use]
    pub fn key_id(mut self, id: impl Into<String>) -> Self {
        self.key_id = Some(id.into());
        self
    }

    /// The key and its algorithm.
    pub(crate) fn encoding_key(&self) -> (&EncodingKey, Algorithm) {
        (&self.key, self.algorithm)
    }

    /// The header of a token that this key signs.
    pub(crate) fn header(&self, typ: &str) -> Header {
        let mut header = Header::new(self.algorithm);
        header.typ = Some(typ.to_owned());
        header.kid.clone_from(&self.key_id);
        header
    }

    /// Signs a token.
    pub(crate) fn sign(&self, header: &Header, claims: &impl Serialize) -> Result<String, AuthError> {
        use_provider();
        jsonwebtoken::encode(header, claims, &self.key).map_err(|error| AuthError::Key(error.to_string()))
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("SigningKey");
        shown.field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

/// Creates a text of 256 random bits.
pub fn random_text() -> Result<String, AuthError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| AuthError::Key(error.to_string()))?;
    Ok(base64url(&bytes))
}

/// The private key in a PEM.
fn der_of_pem(pem: &str) -> Option<Vec<u8>> {
    let (_, rest) = pem.split_once("PRIVATE KEY-----")?;
    let (text, _) = rest.split_once("-----END")?;
    let text: String = text.split_ascii_whitespace().collect();
    STANDARD.decode(text).ok()
}

/// The RSA key in a PKCS #8: a sequence of a version, an algorithm and the key.
fn rsa_key(pkcs8: &[u8]) -> Option<&[u8]> {
    let (members, _) = element(pkcs8, 0x30)?;
    let (_, members) = element(members, 0x02)?;
    let (_, members) = element(members, 0x30)?;
    element(members, 0x04).map(|(key, _)| key)
}

/// The content of the DER element with this tag, and the bytes after it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&first, mut rest) = rest.split_first()?;
    let mut length = usize::from(first);
    if first > 0x80 {
        let (bytes, after) = rest
            .split_at_checked(usize::from(first & 0x7f))
            .filter(|(bytes, _)| bytes.len() <= 4)?;
        length = bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        rest = after;
    }
    rest.split_at_checked(length).filter(|_| found == tag)
}
