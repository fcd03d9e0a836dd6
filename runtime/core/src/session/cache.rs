//! Results of the server that stay fresh for a while.

use std::collections::HashMap;

use crate::canonical::canonical_request;
use crate::change::Change;
use crate::clock::Instant;
use crate::options::CacheLimits;
use crate::side::Side;
use crate::sync::Mutex;

/// The results of a session's calls that are still fresh.
#[derive(Debug)]
pub struct Cache<S: Side> {
    limits: CacheLimits,
    state: Mutex<State<S::ResultIn>>,
}

#[derive(Debug)]
struct State<R> {
    entries: HashMap<String, Entry<R>>,
    bytes: usize,
    /// The number of changes so far.
    changes: u64,
}

#[derive(Debug)]
struct Entry<R> {
    result: R,
    bytes: usize,
    expires: Instant,
    ended_by: Change,
}

/// A call whose result may be kept.
#[derive(Debug)]
pub struct CacheKey {
    /// The request without what it says about this client.
    request: String,
    ended_by: Change,
    /// The number of changes before the request.
    changes: u64,
}

impl<S: Side> Cache<S> {
    pub fn new(limits: CacheLimits) -> Self {
        let state = State {
            entries: HashMap::new(),
            bytes: 0,
            changes: 0,
        };
        Self {
            limits,
            state: Mutex::new(state),
        }
    }

    /// The key of a request whose result is stale after a change.
    pub fn key(&self, request: &[u8], ended_by: Change) -> Option<CacheKey> {
        let request = canonical_request(serde_json::from_slice(request).ok()?);
        let changes = self.state.lock().changes;
        Some(CacheKey {
            request,
            ended_by,
            changes,
        })
    }

    /// The result that is kept for a key, if it is fresh.
    pub fn get(&self, key: &CacheKey) -> Option<S::ResultIn> {
        let state = self.state.lock();
        let entry = state.entries.get(&key.request)?;
        (entry.expires > Instant::now()).then(|| entry.result.clone())
    }

    /// Keeps a result of so many bytes as long as it says, unless something has changed since its request.
    pub fn insert(&self, key: CacheKey, result: &S::ResultIn, bytes: usize) {
        let CacheLimits {
            entries,
            bytes: limit,
            fresh,
        } = self.limits;
        let bytes = bytes.saturating_add(key.request.len());
        let now = Instant::now();
        let expires = now.checked_add(S::freshness(result).min(fresh));
        let Some(expires) = expires.filter(|expires| *expires > now) else {
            return;
        };
        let mut state = self.state.lock();
        if state.changes != key.changes || bytes > limit || entries == 0 {
            return;
        }
        state.remove_if(|request, entry| *request == key.request || entry.expires <= now);
        while state.entries.len() >= entries || state.bytes.saturating_add(bytes) > limit {
            state.remove_soonest();
        }
        state.bytes += bytes;
        let entry = Entry {
            result: result.clone(),
            bytes,
            expires,
            ended_by: key.ended_by,
        };
        state.entries.insert(key.request, entry);
    }

    /// Removes what a change has made stale.
    pub fn end(&self, change: &Change) {
        let mut state = self.state.lock();
        state.changes += 1;
        state.remove_if(|_, entry| entry.ended_by == *change);
    }
}

impl<R> State<R> {
    fn remove_if(&mut self, is_removed: impl Fn(&String, &Entry<R>) -> bool) {
        self.entries.retain(|request, entry| !is_removed(request, entry));
        self.bytes = self.entries.values().map(|entry| entry.bytes).sum();
    }

    /// Removes what would be stale first.
    fn remove_soonest(&mut self) {
        let soonest = self.entries.iter().min_by_key(|(_, entry)| entry.expires);
        if let Some(request) = soonest.map(|(request, _)| request.clone())
            && let Some(entry) = self.entries.remove(&request)
        {
            self.bytes -= entry.bytes;
        }
    }
}
