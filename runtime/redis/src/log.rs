//! The logs of streams, as streams of the store.

use std::collections::HashMap;

use bytes::Bytes;
use mcp_runtime_http::server::{LogAppend, LogEntry, LogId, StoreError};
use redis::Value;
use redis::streams::{StreamId, StreamRangeReply};

use super::RedisStore;
use super::connection::millis;

/// The maximum number of entries per read.
const READ: u32 = 64;

impl RedisStore {
    /// Appends entries, all or none. Their ids in the store are those of the events, so that it refuses entries that it
    /// already has.
    pub(super) async fn append_entries(&self, entries: &[&LogAppend]) -> Result<(), StoreError> {
        let mut expiries = HashMap::new();
        let mut pipeline = redis::pipe();
        pipeline.atomic().ignore_errors();
        for LogAppend { log, entry, oldest } in entries {
            let key = self.keys().log(log);
            let command = pipeline
                .cmd("XADD")
                .arg(&key)
                .arg("MINID")
                .arg(id(*oldest))
                .arg(id(entry.number));
            command.arg("unanswered").arg(&entry.unanswered);
            if let Some(json) = &entry.json {
                command.arg("json").arg(&json[..]);
            }
            if entry.is_end {
                command.arg("end").arg(1);
            }
            let expiry = match entry.is_end {
                true => self.options.ended_expiry,
                false => self.options.event_expiry,
            };
            expiries.insert(key, expiry);
        }
        for (key, expiry) in expiries {
            pipeline.cmd("PEXPIRE").arg(key).arg(millis(expiry));
        }
        let results: Vec<Result<Value, redis::RedisError>> = self.connection.query(&pipeline).await?;
        for error in results.into_iter().filter_map(Result::err) {
            if is_passed(&error) {
                tracing::debug!("an event is in its log already");
            } else {
                return Err(error.into());
            }
        }
        Ok(())
    }

    pub(super) async fn read_entries(&self, log: &LogId, from: u64) -> Result<Vec<LogEntry>, StoreError> {
        let mut pipeline = redis::pipe();
        let command = pipeline.cmd("XRANGE").arg(self.keys().log(log)).arg(id(from));
        command.arg("+").arg("COUNT").arg(READ);
        let (range,): (StreamRangeReply,) = self.connection.query(&pipeline).await?;
        range.ids.into_iter().map(entry).collect()
    }
}

/// Returns the id of an entry in the store, where 0 isn't an id.
fn id(number: u64) -> String {
    format!("{}-0", number.saturating_add(1))
}

/// Whether the log already has an entry with this number or a later one.
fn is_passed(error: &redis::RedisError) -> bool {
    error.to_string().contains("equal or smaller")
}

fn entry(stored: StreamId) -> Result<LogEntry, StoreError> {
    let number = stored
        .id
        .split('-')
        .next()
        .and_then(|number| number.parse::<u64>().ok());
    let number = number
        .and_then(|number| number.checked_sub(1))
        .ok_or("an entry has an unknown id")?;
    Ok(LogEntry {
        number,
        json: stored.get::<Vec<u8>>("json").map(Bytes::from),
        unanswered: stored.get("unanswered").unwrap_or_default(),
        is_end: stored.contains_key("end"),
    })
}
