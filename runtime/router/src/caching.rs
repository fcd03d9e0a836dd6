//! Settings of the caching of results.

use std::time::Duration;

use mcp_adapters::hub::CacheScope;

/// The greatest integer that every JSON implementation can hold.
const MAX_MILLISECONDS: u64 = (1 << 53) - 1;

/// The time for which clients may cache a result, and the clients that may share it.
#[derive(Debug, Clone)]
pub(super) struct Caching {
    milliseconds: i64,
    scope: CacheScope,
}

impl Default for Caching {
    /// Clients may not keep the result.
    fn default() -> Self {
        Self::new(Duration::ZERO, CacheScope::Private)
    }
}

impl Caching {
    pub(super) fn new(ttl: Duration, scope: CacheScope) -> Self {
        let milliseconds = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX).min(MAX_MILLISECONDS);
        Self {
            milliseconds: milliseconds.try_into().unwrap_or(i64::MAX),
            scope,
        }
    }

    /// Combines these settings with the `ttlMs` and `cacheScope` of another result, for a result that contains parts of
    /// both: the shorter time and the stricter scope.
    pub(super) fn with(&self, milliseconds: i64, scope: &CacheScope) -> Self {
        let scope = match &self.scope {
            CacheScope::Public => scope,
            stricter => stricter,
        };
        Self {
            milliseconds: self.milliseconds.min(milliseconds),
            scope: scope.clone(),
        }
    }

    /// The members `ttlMs` and `cacheScope` of a result.
    pub(super) fn members(&self) -> (i64, CacheScope) {
        (self.milliseconds, self.scope.clone())
    }
}
