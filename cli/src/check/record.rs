//! A record of the messages of a session, as they were on the wire.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mcp_adapters::mcp_wire::MessageHeader;
use mcp_adapters::{Revision, session_messages};
use mcp_runtime::transport::MessageDirection;

use crate::message::Seen;

/// The maximum number of bytes of the recorded messages.
const BYTES: usize = 256 << 20;

/// The messages of a session, in order.
#[derive(Default)]
pub struct Record(Mutex<Messages>);

#[derive(Default)]
struct Messages {
    kept: Vec<Seen>,
    bytes: usize,
    left_out: usize,
}

impl Record {
    pub fn add(&self, way: MessageDirection, json: &[u8]) {
        let mut messages = self.lock();
        messages.bytes = messages.bytes.saturating_add(json.len());
        match messages.bytes <= BYTES {
            true => messages.kept.push((way, json.to_vec())),
            false => messages.left_out += 1,
        }
    }

    /// The recorded messages, and the number of messages that were dropped to save memory.
    pub fn messages(&self) -> (Vec<Seen>, usize) {
        let messages = self.lock();
        (messages.kept.clone(), messages.left_out)
    }

    fn lock(&self) -> MutexGuard<'_, Messages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The revision that the server names in the handshake.
    pub fn negotiated(&self) -> Option<Revision> {
        let messages = self.lock();
        let received = messages
            .kept
            .iter()
            .filter(|(way, _)| *way == MessageDirection::Received);
        received.rev().find_map(|(_, json)| {
            let result = MessageHeader::from_slice(json).ok()?.result()?;
            session_messages::negotiated_version(&result.decode_as().ok()?)
        })
    }
}
