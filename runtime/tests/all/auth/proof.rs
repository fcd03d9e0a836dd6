//! DPoP proofs of clients.

use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{Jwk, ThumbprintHash};
use jsonwebtoken::{Algorithm, Header};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::auth::signer::{Signer, now};

/// The header of a valid proof.
pub fn header(key: &Signer) -> Header {
    let mut jwk = key.public();
    jwk.common.key_id = None;
    jwk.common.key_algorithm = None;
    let mut header = Header::new(Algorithm::ES256);
    header.typ = Some("dpop+jwt".to_owned());
    header.jwk = Some(jwk);
    header
}

/// The claims of a valid proof for a request with this token.
pub fn proof_claims(method: &str, url: &str, token: &str) -> Value {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let jti = COUNT.fetch_add(1, Ordering::SeqCst).to_string();
    let ath = URL_SAFE_NO_PAD.encode(Sha256::digest(token));
    json!({"jti": jti, "htm": method, "htu": url, "iat": now(), "ath": ath})
}

/// A proof with these claims.
pub fn sign(key: &Signer, claims: &Value) -> String {
    jsonwebtoken::encode(&header(key), claims, &key.key).unwrap()
}

/// The thumbprint by which a token names the key that it is bound to.
pub fn thumbprint(key: &Jwk) -> String {
    key.thumbprint(ThumbprintHash::SHA256).unwrap()
}
