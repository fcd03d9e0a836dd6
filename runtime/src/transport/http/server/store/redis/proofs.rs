//! The proofs that have been used, as a sorted set for each key, in the order of their expiry.

use std::sync::Arc;
use std::time::Duration;

use super::connection::{Connection, millis};
use super::keys::Keys;
use crate::auth::{BoxError, BoxFuture, ProofStore};

/// The proofs that one key may have at a time.
const MAX_PROOFS: u32 = 16_384;

/// Adds a proof to those of its key: whether it is the first use, or nothing if there is no room. The time is the store's, since the
/// clocks of instances differ.
const ADD: &str = "
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lifetime = tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return false end
redis.call('ZADD', KEYS[1], now + lifetime, ARGV[1])
if redis.call('PTTL', KEYS[1]) < lifetime then redis.call('PEXPIRE', KEYS[1], lifetime) end
return 1";

/// The proofs that the instances of a server remember together. [`RedisStore::proofs`](super::RedisStore::proofs) gives it.
///
/// A store that evicts keys when its memory is full, or has lost its data, forgets proofs before they expire.
#[derive(Debug)]
pub struct RedisProofs {
    connection: Arc<Connection>,
    prefix: String,
}

impl RedisProofs {
    pub(super) fn new(connection: Arc<Connection>, prefix: String) -> Self {
        Self { connection, prefix }
    }
}

impl ProofStore for RedisProofs {
    fn add<'a>(&'a self, key: &'a str, id: &'a str, lifetime: Duration) -> BoxFuture<'a, Result<bool, BoxError>> {
        Box::pin(async move {
            let mut pipeline = redis::pipe();
            let command = pipeline.cmd("EVAL").arg(ADD).arg(1);
            command.arg(Keys(&self.prefix).proofs(key));
            command.arg(id).arg(millis(lifetime)).arg(MAX_PROOFS);
            let (is_first,): (Option<bool>,) = self.connection.query(&pipeline).await?;
            Ok(is_first.ok_or("the key has used too many proofs")?)
        })
    }
}
