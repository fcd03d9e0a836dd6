//! Messages that are passed on as they are, instead of being converted for a handler.

use mcp_adapters::mcp_wire::{ErrorObject, RawJson};

use super::context::Context;
use super::ordered_queue::Ticket;
use crate::future::BoxFuture;
use crate::side::Side;

/// A request or notification of the peer as it is on the wire.
#[derive(Debug)]
pub struct RawMessage {
    /// Its method, by the name of the peer's revision.
    pub method: String,
    /// The whole message.
    pub json: Vec<u8>,
}

/// The answer to a request that was passed on, and its position among the messages to the peer.
pub struct RawAnswer {
    /// The result, in the peer's revision.
    pub result: Result<RawJson, ErrorObject>,
    /// The position; without one, the answer is sent as soon as it is there.
    pub ticket: Option<Ticket>,
}

impl From<ErrorObject> for RawAnswer {
    fn from(error: ErrorObject) -> Self {
        let (result, ticket) = (Err(error), None);
        Self { result, ticket }
    }
}

/// Passes the messages of one side's peer on.
///
/// The functions are called in the order in which the messages come, and shouldn't block. What they return runs later, side by side.
pub trait Relay<S: Side>: Send + Sync {
    /// Passes a request on. The future is dropped if the peer cancels the request.
    fn pass_request(&self, request: RawMessage, context: Context<S>) -> BoxFuture<'static, RawAnswer>;

    /// Passes a notification on.
    fn pass_notification(&self, notification: RawMessage, context: Context<S>) -> BoxFuture<'static, ()>;
}
