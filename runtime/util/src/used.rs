//! Lists of single-use ids that have been used.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use crate::expiring_set::ExpiringSet;
use crate::sync::Mutex;

/// The divisor of a list's capacity that gives the share of one owner, so that no owner can lock out the others.
const SHARE: usize = 8;

/// A truncated digest. It is infeasible to find two texts with the same one.
type Hash = [u8; 16];

/// The error when too many ids have been used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many have been used")]
pub struct TooMany;

/// A list of used ids, each until it expires.
#[derive(Default)]
pub struct UsedOnce(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    used: ExpiringSet<Entry>,
    /// The number of entries of each owner.
    by_owner: HashMap<Hash, usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Entry {
    owner: Hash,
    id: Hash,
}

impl UsedOnce {
    /// Adds an id that an owner uses, until `expiry`; `false` if it is already there. Both times are in seconds. One
    /// owner can take at most an eighth of the capacity.
    pub fn add(&self, owner: &str, id: &str, expiry: u64, now: u64, capacity: usize) -> Result<bool, TooMany> {
        let owner = hash(owner);
        let entry = Entry { owner, id: hash(id) };
        let mut entries = self.0.lock();
        entries.expire(now);
        if entries.used.contains(&entry) {
            return Ok(false);
        }
        let of_owner = entries.by_owner.get(&owner).copied().unwrap_or(0);
        if entries.used.len() >= capacity || of_owner >= capacity.div_ceil(SHARE) {
            return Err(TooMany);
        }
        entries.used.insert(entry, expiry);
        entries.by_owner.insert(owner, of_owner + 1);
        Ok(true)
    }

    /// Whether all ids have expired.
    pub fn is_empty(&self, now: u64) -> bool {
        let mut entries = self.0.lock();
        entries.expire(now);
        entries.used.len() == 0
    }
}

impl Entries {
    /// Removes the expired ids.
    fn expire(&mut self, now: u64) {
        let Self { used, by_owner } = self;
        used.expire(now, |Entry { owner, .. }| {
            if let Some(left) = by_owner.get_mut(&owner) {
                *left -= 1;
                if *left == 0 {
                    by_owner.remove(&owner);
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
    fn a_used_id_is_refused_until_it_expires() {
        let used = UsedOnce::default();
        let add = |owner: &str, expiry: u64, now: u64| used.add(owner, "1", expiry, now, 80);
        assert_eq!(add("one", 101, 10), Ok(true));
        assert_eq!(add("one", 101, 100), Ok(false));
        assert_eq!(add("one", 200, 50), Ok(false));
        assert_eq!(add("other", 101, 50), Ok(true));
        assert_eq!(add("one", 200, 101), Ok(true));
        assert!(!used.is_empty(199) && used.is_empty(200));
    }

    #[test]
    fn the_list_is_bounded_in_total_and_per_owner() {
        let used = UsedOnce::default();
        let add = |owner: &str, id: usize| used.add(owner, &id.to_string(), 101, 10, 80);
        assert!((0..10).all(|id| add("greedy", id) == Ok(true)));
        assert_eq!(add("greedy", 10), Err(TooMany));
        for owner in 1..8 {
            assert!((0..10).all(|id| add(&owner.to_string(), id) == Ok(true)), "{owner}");
        }
        assert_eq!(add("latecomer", 0), Err(TooMany));
        assert_eq!(used.0.lock().used.len(), 80);
        // After the entries have expired, the owner can add more.
        assert_eq!(used.add("greedy", "10", 200, 101, 80), Ok(true));
        let entries = used.0.lock();
        assert_eq!((entries.used.len(), entries.by_owner.len()), (1, 1));
    }
}
