//! Results of the server that stay fresh for a while.

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
    /// By their requests. With each is the change that makes it stale.
    results: ExpiringMap<String, (R, Change), Instant>,
    /// The number of changes so far.
    changes: u64,
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
            results: ExpiringMap::default(),
            changes: 0,
        };
        Self {
            limits,
            state: Mutex::new(state),
        }
    }

    /// The key of a request whose result is stale after a change.
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

    /// The result that is kept for a key, if it is fresh.
    pub fn get(&self, key: &CacheKey) -> Option<S::ResultIn> {
        let state = self.state.lock();
        let (result, _) = state.results.get(&key.request, Instant::now())?;
        Some(result.clone())
    }

    /// Keeps a result of so many bytes as long as it says, unless something has changed since its request.
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

    /// Removes what a change has made stale.
    pub fn end(&self, change: &Change) {
        let mut state = self.state.lock();
        state.changes += 1;
        state.results.remove_if(|(_, ended_by)| ended_by == change);
    }
}
