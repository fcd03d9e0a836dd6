//! The proofs that have been used.

use std::collections::HashMap;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::auth::crypto::now;
use crate::auth::error::BoxError;
use crate::expiring_set::ExpiringSet;
use crate::future::BoxFuture;
use crate::sync::Mutex;

/// Remembers which proofs have been used, so that none is used again. [`Dpop::store`](super::Dpop::store) takes it.
pub trait ProofStore: Send + Sync + 'static {
    /// Adds a proof, which has to be remembered for this time; `false` if it is there already.
    ///
    /// `key` is the thumbprint of the key that has signed it, and `id` a digest of its id. The clients have the keys, and make as
    /// many proofs as they like, so a store needs a limit for each key.
    ///
    /// # Errors
    /// When the store can't say whether it is there, or has no room for it. The request is refused with the status 503.
    fn add<'a>(&'a self, key: &'a str, id: &'a str, lifetime: Duration) -> BoxFuture<'a, Result<bool, BoxError>>;
}

/// The part of the list that the proofs of one key may take, so that one client doesn't keep out the others.
const SHARE: usize = 8;

/// A part of a digest. Nobody finds two texts with the same one.
type Hash = [u8; 16];

/// Too many proofs have been used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many proofs have been used")]
pub struct TooManyProofs;

/// The proofs that this process remembers.
pub struct UsedProofs {
    entries: Mutex<Entries>,
    capacity: usize,
}

#[derive(Default)]
struct Entries {
    used: ExpiringSet<Proof>,
    /// The number of proofs of each key.
    by_key: HashMap<Hash, usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Proof {
    key: Hash,
    id: Hash,
}

impl UsedProofs {
    pub fn new(capacity: usize) -> Self {
        Self {
            entries: Mutex::default(),
            capacity,
        }
    }

    /// Adds a proof until `expiry`; `false` if it is there already. Both times are in seconds.
    fn add_at(&self, key: &str, id: &str, expiry: u64, now: u64) -> Result<bool, TooManyProofs> {
        let key = hash(key);
        let proof = Proof { key, id: hash(id) };
        let mut entries = self.entries.lock();
        entries.expire(now);
        if entries.used.contains(&proof) {
            return Ok(false);
        }
        let of_key = entries.by_key.get(&key).copied().unwrap_or(0);
        if entries.used.len() >= self.capacity || of_key >= self.capacity.div_ceil(SHARE) {
            return Err(TooManyProofs);
        }
        entries.used.insert(proof, expiry);
        entries.by_key.insert(key, of_key + 1);
        Ok(true)
    }
}

impl ProofStore for UsedProofs {
    fn add<'a>(&'a self, key: &'a str, id: &'a str, lifetime: Duration) -> BoxFuture<'a, Result<bool, BoxError>> {
        let now = now();
        let added = self.add_at(key, id, now.saturating_add(lifetime.as_secs()), now);
        Box::pin(std::future::ready(added.map_err(Into::into)))
    }
}

impl Entries {
    /// Forgets the proofs that have expired.
    fn expire(&mut self, now: u64) {
        let Self { used, by_key } = self;
        used.expire(now, |Proof { key, .. }| {
            if let Some(left) = by_key.get_mut(&key) {
                *left -= 1;
                if *left == 0 {
                    by_key.remove(&key);
                }
            }
        });
    }
}

fn hash(text: &str) -> Hash {
    let mut hash = Hash::default();
    hash.copy_from_slice(&Sha256::digest(text)[..16]);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_used_once_until_it_expires() {
        let used = UsedProofs::new(80);
        assert_eq!(used.add_at("key", "1", 101, 10), Ok(true));
        assert_eq!(used.add_at("key", "1", 101, 100), Ok(false));
        assert_eq!(used.add_at("key", "1", 200, 50), Ok(false));
        assert_eq!(used.add_at("other key", "1", 101, 50), Ok(true));
        assert_eq!(used.add_at("key", "1", 200, 101), Ok(true));
    }

    #[test]
    fn the_list_is_bounded_and_one_key_has_a_part_of_it() {
        let used = UsedProofs::new(80);
        let add = |key: &str, id: usize| used.add_at(key, &id.to_string(), 101, 10);
        assert!((0..10).all(|id| add("greedy", id) == Ok(true)));
        assert_eq!(add("greedy", 10), Err(TooManyProofs));
        for key in 1..8 {
            assert!((0..10).all(|id| add(&key.to_string(), id) == Ok(true)), "{key}");
        }
        assert_eq!(add("latecomer", 0), Err(TooManyProofs));
        assert_eq!(used.entries.lock().used.len(), 80);
        // Later there is room again.
        assert_eq!(used.add_at("greedy", "10", 200, 101), Ok(true));
        let entries = used.entries.lock();
        assert_eq!((entries.used.len(), entries.by_key.len()), (1, 1));
    }
}
