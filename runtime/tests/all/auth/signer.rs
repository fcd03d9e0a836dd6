//! Keys of issuers, and tokens that are signed with them.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

/// A key of an issuer.
pub struct Signer {
    pub key: EncodingKey,
    pub id: String,
}

impl Signer {
    pub fn new(id: &str) -> Self {
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        Self {
            key: EncodingKey::from_ec_der(document.unwrap().as_ref()),
            id: id.to_owned(),
        }
    }

    /// The public key, as issuers publish it.
    pub fn public(&self) -> Jwk {
        let mut key = Jwk::from_encoding_key(&self.key, Algorithm::ES256).unwrap();
        key.common.key_id = Some(self.id.clone());
        key
    }

    /// A key set that contains only this key.
    pub fn jwks(&self) -> Value {
        json!(JwkSet {
            keys: vec![self.public()]
        })
    }

    pub fn header(&self) -> Header {
        let mut header = Header::new(Algorithm::ES256);
        header.kid = Some(self.id.clone());
        header.typ = Some("at+jwt".to_owned());
        header
    }

    pub fn sign(&self, claims: &Value) -> String {
        jsonwebtoken::encode(&self.header(), claims, &self.key).unwrap()
    }
}

/// Seconds since the epoch.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// The claims of a valid token.
pub fn claims(issuer: &str, audience: &str, subject: &str, scope: &str) -> Value {
    let exp = now() + 600;
    json!({"iss": issuer, "aud": audience, "sub": subject, "client_id": "a client", "scope": scope, "exp": exp})
}

/// The claims with another value for one of them, or without it if the value is null.
pub fn with(mut claims: Value, name: &str, value: Value) -> Value {
    match value {
        Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
        value => claims[name] = value,
    }
    claims
}
