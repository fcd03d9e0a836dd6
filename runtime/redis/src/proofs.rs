//! The proofs that have been used.

use std::sync::Arc;
use std::time::Duration;

use mcp_runtime_http::guard::ProofStore;
use mcp_runtime_http::server::{StoreError, StoreFuture};

use super::RedisStore;
use super::connection::Connection;
use super::used::add_once;

/// The maximum number of proofs that one key can have at a time.
const MAX_PROOFS: u32 = 16_384;

/// The proofs that the instances of a server remember together. [`RedisStore::proofs`] returns it.
///
/// A store that evicts keys when its memory is full, or has lost its data, forgets proofs before they expire.
#[derive(Debug)]
pub struct RedisProofs {
    connection: Arc<Connection>,
    prefix: String,
}

impl RedisStore {
    /// Returns the store of the proofs that the instances have used, for `Dpop::store` of `mcp-runtime-auth`. One key
    /// can have 16,384 at a time.
    #[must_use]
    pub fn proofs(&self) -> RedisProofs {
        RedisProofs::new(Arc::clone(&self.connection), self.options.prefix.clone())
    }
}

impl RedisProofs {
    pub(super) fn new(connection: Arc<Connection>, prefix: String) -> Self {
        Self { connection, prefix }
    }
}

impl ProofStore for RedisProofs {
    fn add<'a>(&'a self, key: &'a str, id: &'a str, lifetime: Duration) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let key = format!("{}:proofs:{key}", self.prefix);
            let is_first = add_once(&self.connection, key, id, lifetime, MAX_PROOFS).await?;
            is_first.ok_or_else(|| StoreError::from("the key has used too many proofs"))
        })
    }
}
