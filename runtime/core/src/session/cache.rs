//! The cache of a server's results.

use mcp_adapters::mcp_wire::RawJson;
use mcp_runtime_util::{Instant, Mutex};

use crate::canonical::canonical_request;
use crate::change::Change;
use crate::expiring_map::ExpiringMap;
use crate::options::CacheLimits;
use crate::side::Side;

/// The results of a session's calls that are still fresh.
#[derive(Debug)]
pub struct Cache<S: Side> {
    limits: CacheLimits,
    state: Mutex<State<S::ResultIn>>,
}

#[derive(Debug)]
struct State<R> {
    /// The results by their requests, each with the change that makes it stale.
    results: ExpiringMap<String, (R, Change), Instant>,
    /// The number of changes so far.
    changes: u64,
}

/// The cache key of a call.
#[derive(Debug)]
pub struct CacheKey {
    /// The canonical request, without `_meta`.
    request: String,
    ended_by: Change,
    /// The number of changes before the request.
    changes: u64,
}

impl<S: Side> Cache<S> {
    pub fn new(limits: CacheLimits) -> Self {
        let state = State {
            results: ExpiringMap::default(),
            changes: 0,
        };
        Self {
            limits,
            state: Mutex::new(state),
        }
    }

    /// Returns the key of a request whose result becomes stale by the change `ended_by`.
    pub fn key(&self, request: &[u8], ended_by: Change) -> Option<CacheKey> {
        let request = RawJson::of_json(std::str::from_utf8(request).ok()?);
        let request = canonical_request(request.parse_value().ok()?);
        let changes = self.state.lock().changes;
        Some(CacheKey {
            request,
            ended_by,
            changes,
        })
    }

    /// Returns the cached result for a key, if it is still fresh.
    pub fn get(&self, key: &CacheKey) -> Option<S::ResultIn> {
        let state = self.state.lock();
        let (result, _) = state.results.get(&key.request, Instant::now())?;
        Some(result.clone())
    }

    /// Caches a result of `bytes` bytes for the time it declares, unless a change has come since its request.
    pub fn insert(&self, key: CacheKey, result: &S::ResultIn, bytes: usize) {
        let bytes = bytes.saturating_add(key.request.len());
        let now = Instant::now();
        let expires = now.checked_add(S::freshness(result).min(self.limits.fresh));
        let Some(expires) = expires.filter(|expires| *expires > now) else {
            return;
        };
        let mut state = self.state.lock();
        if state.changes != key.changes {
            return;
        }
        let kept = (result.clone(), key.ended_by);
        state
            .results
            .insert(key.request, kept, bytes, (now, expires), &self.limits);
    }

    /// Removes the results that a change has made stale.
    pub fn end(&self, change: &Change) {
        let mut state = self.state.lock();
        state.changes += 1;
        state.results.remove_if(|(_, ended_by)| ended_by == change);
    }
}
