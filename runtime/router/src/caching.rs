//! How long clients may keep a result, and who may share it.

use std::time::Duration;

use mcp_adapters::hub::CacheScope;

/// The greatest integer that every JSON implementation can hold.
const MAX_MILLISECONDS: u64 = (1 << 53) - 1;

/// How long clients may keep a result, and who may share it.
#[derive(Debug, Clone)]
pub(super) struct Caching {
    milliseconds: i64,
    scope: CacheScope,
}

impl Default for Caching {
    /// Not at all.
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

    /// The same for a result that has a part of another result, with these members.
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

    /// The members of a result that say so.
    pub(super) fn members(&self) -> (i64, CacheScope) {
        (self.milliseconds, self.scope.clone())
    }
}
