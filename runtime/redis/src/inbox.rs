//! The inbox of an instance, as a stream of the store.

use std::time::Duration;

use mcp_runtime_http::server::{InboxMessage, StoreError};
use redis::aio::MultiplexedConnection;
use redis::streams::{StreamId, StreamReadReply};
use redis::{Client, RedisResult};
use tokio::sync::Mutex;

use super::connection::{connect, millis, within};

/// How long a read waits for a message.
pub(super) const WAIT: Duration = Duration::from_secs(1);
/// The maximum number of messages per read.
const COUNT: u32 = 64;

/// The inbox of this instance. It has a separate connection: on a shared one, other commands would wait behind a
/// blocking read.
#[derive(Debug)]
pub(super) struct Inbox {
    client: Client,
    timeout: Duration,
    reading: Mutex<Reading>,
}

#[derive(Debug)]
struct Reading {
    connection: Option<MultiplexedConnection>,
    /// The id of the last message.
    last: String,
}

impl Inbox {
    pub(super) fn new(client: Client, timeout: Duration) -> Self {
        let reading = Reading {
            connection: None,
            last: "0".to_owned(),
        };
        Self {
            client,
            timeout,
            reading: Mutex::new(reading),
        }
    }

    /// Takes messages, and waits for one if there are none.
    pub(super) async fn take(&self, key: &str) -> Result<Vec<InboxMessage>, StoreError> {
        let mut reading = self.reading.lock().await;
        let mut connection = match reading.connection.take() {
            Some(connection) => connection,
            None => connect(&self.client, self.timeout).await?,
        };
        let messages = within(
            WAIT.saturating_add(self.timeout),
            read(&mut connection, key, &reading.last),
        )
        .await?;
        if let Some(last) = messages.last() {
            reading.last.clone_from(&last.id);
            let mut delete = redis::cmd("XDEL");
            delete.arg(key);
            for message in &messages {
                delete.arg(&message.id);
            }
            // Messages that couldn't be deleted are removed with the inbox.
            let _: () = within(self.timeout, delete.query_async(&mut connection))
                .await
                .unwrap_or_default();
        }
        // A connection that has failed isn't kept.
        reading.connection = Some(connection);
        Ok(messages.iter().filter_map(message).collect())
    }
}

pub(super) async fn read(connection: &mut MultiplexedConnection, key: &str, last: &str) -> RedisResult<Vec<StreamId>> {
    let mut command = redis::cmd("XREAD");
    command.arg("COUNT").arg(COUNT).arg("BLOCK").arg(millis(WAIT));
    command.arg("STREAMS").arg(key).arg(last);
    let reply: Option<StreamReadReply> = command.query_async(connection).await?;
    let inboxes = reply.into_iter().flat_map(|reply| reply.keys);
    Ok(inboxes.flat_map(|inbox| inbox.ids).collect())
}

fn message(stored: &StreamId) -> Option<InboxMessage> {
    Some(InboxMessage {
        session: stored.get("session")?,
        message: stored.get("message")?,
    })
}
