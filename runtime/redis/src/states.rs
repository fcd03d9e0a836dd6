//! The states of requests that have been used.

use std::sync::Arc;
use std::time::Duration;

use mcp_runtime_core::StateStore;
use mcp_runtime_http::server::{StoreError, StoreFuture};

use super::connection::Connection;
use super::keys::Keys;
use super::used::add_once;

/// The maximum number of states that one principal can have at a time.
const MAX_STATES: u32 = 16_384;

/// The states that the instances of a server remember together. [`RedisStore::states`](super::RedisStore::states)
/// returns it.
///
/// A store that evicts keys when its memory is full, or has lost its data, forgets states before they expire.
#[derive(Debug, Clone)]
pub struct RedisStates {
    connection: Arc<Connection>,
    prefix: String,
}

impl RedisStates {
    pub(super) fn new(connection: Arc<Connection>, prefix: String) -> Self {
        Self { connection, prefix }
    }
}

impl StateStore for RedisStates {
    fn add<'a>(&'a self, principal: &'a str, id: &'a str, lifetime: Duration) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let key = Keys(&self.prefix).states(principal);
            let is_first = add_once(&self.connection, key, id, lifetime, MAX_STATES).await?;
            is_first.ok_or_else(|| StoreError::from("the principal has used too many states"))
        })
    }
}
