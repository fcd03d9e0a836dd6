//! A map of limited size that holds each entry until it expires.

use std::collections::HashMap;
use std::hash::Hash;

use crate::options::CacheLimits;

/// Entries by their keys. At the limit, the entries that would expire first are evicted.
#[derive(Debug)]
pub struct ExpiringMap<K, V, T> {
    entries: HashMap<K, Entry<V, T>>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry<V, T> {
    value: V,
    bytes: usize,
    expires: T,
}

impl<K, V, T> Default for ExpiringMap<K, V, T> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            bytes: 0,
        }
    }
}

impl<K: Clone + Eq + Hash, V, T: Copy + Ord> ExpiringMap<K, V, T> {
    /// Returns the value of a key, if it hasn't expired.
    pub fn get(&self, key: &K, now: T) -> Option<&V> {
        let entry = self.entries.get(key)?;
        (entry.expires > now).then_some(&entry.value)
    }

    /// Adds an entry of `bytes` bytes, including its key, unless it alone exceeds `limits`.
    pub fn insert(&mut self, key: K, value: V, bytes: usize, (now, expires): (T, T), limits: &CacheLimits) {
        if bytes > limits.bytes || limits.entries == 0 {
            return;
        }
        self.retain(|other, entry| *other != key && entry.expires > now);
        while self.entries.len() >= limits.entries || self.bytes.saturating_add(bytes) > limits.bytes {
            let soonest = self.entries.iter().min_by_key(|(_, entry)| entry.expires);
            let Some(soonest) = soonest.map(|(key, _)| key.clone()) else {
                break;
            };
            self.retain(|key, _| *key != soonest);
        }
        self.bytes += bytes;
        self.entries.insert(key, Entry { value, bytes, expires });
    }

    /// Removes the entries whose value meets the condition.
    pub fn remove_if(&mut self, is_removed: impl Fn(&V) -> bool) {
        self.retain(|_, entry| !is_removed(&entry.value));
    }

    fn retain(&mut self, stays: impl Fn(&K, &Entry<V, T>) -> bool) {
        let bytes = &mut self.bytes;
        self.entries.retain(|key, entry| {
            let stays = stays(key, entry);
            *bytes -= if stays { 0 } else { entry.bytes };
            stays
        });
    }
}
