//! Nonces of proofs. They are signed, so the server needn't remember them.

use std::sync::Arc;

use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign, verify};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::crypto::base64url;

/// The time for which a nonce is accepted, in seconds.
const LIFE: u64 = 300;
/// The age at which a client gets another one, in seconds.
const STALE: u64 = LIFE / 2;
/// A prefix of the signed data, so that other signatures with the same key aren't valid nonces.
const PURPOSE: &[u8] = b"mcp dpop nonce 1";

/// Makes and checks nonces.
#[derive(Clone)]
pub struct Nonces(Arc<Key>);

/// The age of a nonce, which determines whether it is accepted.
#[derive(Debug, PartialEq, Eq)]
pub enum NonceAge {
    /// It is accepted.
    Fresh,
    /// It is accepted, but the client should get another one.
    Stale,
    /// It isn't from this server, or is too old.
    Refused,
}

impl Nonces {
    pub fn new(key: &[u8]) -> Self {
        Self(Arc::new(Key::new(HMAC_SHA256, key)))
    }

    /// Makes a nonce for the current time, in seconds since the epoch.
    pub fn at(&self, now: u64) -> String {
        let mut nonce = now.to_be_bytes().to_vec();
        nonce.extend_from_slice(sign(&self.0, &signed(&now.to_be_bytes())).as_ref());
        base64url(&nonce)
    }

    pub fn age(&self, nonce: &str, now: u64) -> NonceAge {
        let decoded = URL_SAFE_NO_PAD.decode(nonce).unwrap_or_default();
        let Some((made, tag)) = decoded.split_first_chunk::<8>() else {
            return NonceAge::Refused;
        };
        if verify(&self.0, &signed(made), tag).is_err() {
            return NonceAge::Refused;
        }
        // An instance whose clock is ahead may have made it slightly in the future.
        match now.saturating_sub(u64::from_be_bytes(*made)) {
            0..STALE => NonceAge::Fresh,
            STALE..LIFE => NonceAge::Stale,
            _ => NonceAge::Refused,
        }
    }
}

fn signed(made: &[u8]) -> Vec<u8> {
    [PURPOSE, made].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonces_are_accepted_for_five_minutes_by_servers_with_the_same_key() {
        let nonces = Nonces::new(&[7; 32]);
        let nonce = nonces.at(1000);
        assert_eq!(nonces.age(&nonce, 1000), NonceAge::Fresh);
        assert_eq!(nonces.age(&nonce, 1149), NonceAge::Fresh);
        assert_eq!(Nonces::new(&[7; 32]).age(&nonce, 1150), NonceAge::Stale);
        assert_eq!(nonces.age(&nonce, 1300), NonceAge::Refused);
        assert_eq!(Nonces::new(&[8; 32]).age(&nonce, 1000), NonceAge::Refused);
        let later = {
            let mut bytes = URL_SAFE_NO_PAD.decode(&nonce).unwrap();
            bytes[7] += 1;
            base64url(&bytes)
        };
        for forged in ["", "AAAA", &later, &nonce[..20], &format!("{nonce}A")] {
            assert_eq!(nonces.age(forged, 1000), NonceAge::Refused, "{forged}");
        }
    }
}
