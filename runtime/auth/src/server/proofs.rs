//! Used proofs in memory.

use std::time::Duration;

use mcp_runtime_http::guard::ProofStore;
use mcp_runtime_util::{BoxFuture, UsedOnce};

use crate::crypto::now;
use crate::error::BoxError;

/// A store of used proofs in the memory of this process. One key can have only a part of the capacity, so that one
/// client can't block the others.
pub struct UsedProofs {
    used: UsedOnce,
    capacity: usize,
}

impl UsedProofs {
    pub fn new(capacity: usize) -> Self {
        Self {
            used: UsedOnce::default(),
            capacity,
        }
    }
}

impl ProofStore for UsedProofs {
    fn add<'a>(&'a self, key: &'a str, id: &'a str, lifetime: Duration) -> BoxFuture<'a, Result<bool, BoxError>> {
        let now = now();
        let expiry = now.saturating_add(lifetime.as_secs());
        let added = self.used.add(key, id, expiry, now, self.capacity);
        Box::pin(std::future::ready(added.map_err(Into::into)))
    }
}
