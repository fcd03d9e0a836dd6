//! The proofs that have been used.

use std::time::Duration;

use mcp_runtime_util::{BoxFuture, UsedOnce};

use crate::crypto::now;
use crate::error::BoxError;

/// Remembers which proofs have been used, so that none is used again. [`Dpop::store`](super::Dpop::store) takes it.
pub trait ProofStore: Send + Sync + 'static {
    /// Adds a proof, which has to be remembered for this time; `false` if it is there already.
    ///
    /// `key` is the thumbprint of the key that has signed it, and `id` a digest of its id. The clients have the keys, and make as
    /// many proofs as they like, so a store needs a limit for each key.
    ///
    /// # Errors
    /// When the store can't say whether it is there, or has no room for it. The request is refused with the status 503.
    fn add<'a>(&'a self, key: &'a str, id: &'a str, lifetime: Duration) -> BoxFuture<'a, Result<bool, BoxError>>;
}

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
