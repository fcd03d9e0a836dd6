//! The proofs that have been used.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use crate::expiring_set::ExpiringSet;
use crate::sync::Mutex;

/// The part of the list that the proofs of one key may take, so that one client doesn't keep out the others.
const SHARE: usize = 8;

/// A part of a digest. Nobody finds two texts with the same one.
type Hash = [u8; 16];

/// The proofs that have been used, until they expire.
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

/// Whether a proof has been used.
#[derive(Debug, PartialEq, Eq)]
pub enum Use {
    First,
    Again,
    /// The list is full, and nobody can say.
    Unknown,
}

impl UsedProofs {
    pub fn new(capacity: usize) -> Self {
        Self {
            entries: Mutex::default(),
            capacity,
        }
    }

    /// Uses the proof with this id of this key, which isn't accepted any more after `expiry`. Both times are in seconds.
    pub fn add(&self, key: &str, id: &str, expiry: u64, now: u64) -> Use {
        let key = hash(key);
        let proof = Proof { key, id: hash(id) };
        let mut entries = self.entries.lock();
        entries.expire(now);
        if entries.used.contains(&proof) {
            return Use::Again;
        }
        let of_key = entries.by_key.get(&key).copied().unwrap_or(0);
        if entries.used.len() >= self.capacity || of_key >= self.capacity.div_ceil(SHARE) {
            return Use::Unknown;
        }
        // The proof is still accepted in the second of its expiry.
        entries.used.insert(proof, expiry.saturating_add(1));
        entries.by_key.insert(key, of_key + 1);
        Use::First
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
        assert_eq!(used.add("key", "1", 100, 10), Use::First);
        assert_eq!(used.add("key", "1", 100, 100), Use::Again);
        assert_eq!(used.add("key", "1", 200, 50), Use::Again);
        assert_eq!(used.add("other key", "1", 100, 50), Use::First);
        assert_eq!(used.add("key", "1", 200, 101), Use::First);
    }

    #[test]
    fn the_list_is_bounded_and_one_key_has_a_part_of_it() {
        let used = UsedProofs::new(80);
        let add = |key: &str, id: usize| used.add(key, &id.to_string(), 100, 10);
        assert!((0..10).all(|id| add("greedy", id) == Use::First));
        assert_eq!(add("greedy", 10), Use::Unknown);
        for key in 1..8 {
            assert!((0..10).all(|id| add(&key.to_string(), id) == Use::First), "{key}");
        }
        assert_eq!(add("latecomer", 0), Use::Unknown);
        assert_eq!(used.entries.lock().used.len(), 80);
        // Later there is room again.
        assert_eq!(used.add("greedy", "10", 200, 101), Use::First);
        let entries = used.entries.lock();
        assert_eq!((entries.used.len(), entries.by_key.len()), (1, 1));
    }
}
