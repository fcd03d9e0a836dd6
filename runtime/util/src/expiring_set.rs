//! A set that holds each entry until it expires.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::hash::Hash;

/// A set of entries, each with the time in seconds at which it expires. Expired entries are removed only by
/// [`expire`](Self::expire).
pub struct ExpiringSet<T> {
    entries: HashSet<T>,
    by_expiry: BinaryHeap<Reverse<(u64, T)>>,
}

impl<T: Ord> Default for ExpiringSet<T> {
    fn default() -> Self {
        Self {
            entries: HashSet::new(),
            by_expiry: BinaryHeap::new(),
        }
    }
}

impl<T: Copy + Ord + Hash> ExpiringSet<T> {
    /// Removes the entries that have expired, and calls `removed` with each.
    pub fn expire(&mut self, now: u64, mut removed: impl FnMut(T)) {
        while let Some(&Reverse((_, entry))) = self.by_expiry.peek().filter(|Reverse((expiry, _))| *expiry <= now) {
            self.by_expiry.pop();
            self.entries.remove(&entry);
            removed(entry);
        }
    }

    pub fn contains(&self, entry: &T) -> bool {
        self.entries.contains(entry)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds an entry. An existing entry keeps its expiry.
    pub fn insert(&mut self, entry: T, expiry: u64) {
        if self.entries.insert(entry) {
            self.by_expiry.push(Reverse((expiry, entry)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_removed_in_the_order_of_their_expiry() {
        let mut set = ExpiringSet::default();
        for (entry, expiry) in [('a', 30), ('b', 10), ('c', 20), ('b', 40)] {
            set.insert(entry, expiry);
        }
        let mut removed = Vec::new();
        set.expire(9, |entry| removed.push(entry));
        assert_eq!((removed.len(), set.len()), (0, 3));
        set.expire(20, |entry| removed.push(entry));
        assert_eq!(removed, ['b', 'c']);
        assert!(set.contains(&'a') && !set.contains(&'b'));
        assert_eq!(set.len(), 1);
    }
}
