//! Values that can be used only once, as a sorted set for each owner, in the order of expiry.

use std::time::Duration;

use mcp_runtime_http::server::StoreError;

use super::connection::{Connection, millis};

/// Adds an entry to the set of an owner. Returns whether it is the first use, or nothing if the set is full. The time
/// is the store's, since the clocks of instances differ.
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

/// Adds an entry to a set of at most `most` entries. Returns whether it is the first use, or `None` if the set is full.
pub(super) async fn add_once(
    connection: &Connection,
    set: String,
    id: &str,
    lifetime: Duration,
    most: u32,
) -> Result<Option<bool>, StoreError> {
    let mut pipeline = redis::pipe();
    let command = pipeline.cmd("EVAL").arg(ADD).arg(1).arg(set);
    command.arg(id).arg(millis(lifetime)).arg(most);
    let (is_first,) = connection.query(&pipeline).await?;
    Ok(is_first)
}
