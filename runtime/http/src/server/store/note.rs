//! The messages between instances of the server.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::instances::{Instances, Recipient};

/// A message about a session from one instance to another.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Note<'a> {
    /// The client has sent this message.
    Message(#[serde(borrow)] &'a RawValue),
    /// The instance with the engine `reader` sends a stream of `engine` to the client, which has all events before
    /// `next`.
    Reading {
        engine: u32,
        stream: u64,
        next: u64,
        reader: u32,
    },
    /// A stream that the other instance reads has another event.
    Logged,
    /// The client reads the standalone stream at the instance with this engine. `read` is another engine, and the
    /// number of the first of its events that the client doesn't have.
    Listening { engine: u32, read: Option<(u32, u64)> },
    /// The instance with this engine asks where the client reads the standalone stream.
    WhoListens { engine: u32 },
    /// A message for the standalone stream.
    Event(#[serde(borrow)] &'a RawValue),
}

impl Note<'_> {
    pub(crate) fn to_json(&self) -> Vec<u8> {
        // Serializing fails only for a map whose keys aren't strings, and a note has none.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Sends the note. If that fails, the instance that waits for it checks again after a while.
    pub(crate) async fn send(&self, instances: &dyn Instances, session: &str, to: Recipient) {
        let sent = instances.send(session, to, &self.to_json()).await;
        if let Err(error) = sent {
            tracing::debug!(error, "a note to another instance can't be sent");
        }
    }
}
