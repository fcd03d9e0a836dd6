//! The proofs that have been used.

use std::time::Duration;

use mcp_runtime_http::guard::ProofStore;
use mcp_runtime_util::{BoxFuture, UsedOnce};

use crate::crypto::now;
use crate::error::BoxError;

/// The proofs that this process remembers. One key may have a part of them, so that one client doesn't keep out the others.
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
