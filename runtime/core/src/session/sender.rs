//! The sending half of a transport, whatever its type is.

use std::time::Duration;

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::RequestId;

use crate::error::TransportError;
use crate::future::BoxFuture;
use crate::message::{Outgoing, Sender};

/// A [`Sender`] that can be a trait object.
pub trait DynSender: Send + Sync {
    fn send(&self, message: Outgoing) -> BoxFuture<'_, Result<(), TransportError>>;
    fn send_all(&self, messages: Vec<Outgoing>) -> BoxFuture<'_, Result<(), TransportError>>;
    fn unanswered(&self, ids: &[RequestId]);
    fn negotiated(&self, revision: Revision);
    fn first_request_id(&self) -> i64;
    fn suspended(&self) -> Duration;
    fn ends_with_response(&self) -> bool;
    fn close(&self) -> BoxFuture<'_, ()>;
}

impl<T: Sender> DynSender for T {
    fn send(&self, message: Outgoing) -> BoxFuture<'_, Result<(), TransportError>> {
        Box::pin(Sender::send(self, message))
    }

    fn send_all(&self, messages: Vec<Outgoing>) -> BoxFuture<'_, Result<(), TransportError>> {
        Box::pin(Sender::send_all(self, messages))
    }

    fn unanswered(&self, ids: &[RequestId]) {
        Sender::unanswered(self, ids);
    }

    fn negotiated(&self, revision: Revision) {
        Sender::negotiated(self, revision);
    }

    fn suspended(&self) -> Duration {
        Sender::suspended(self)
    }

    fn ends_with_response(&self) -> bool {
        Sender::ends_with_response(self)
    }

    fn first_request_id(&self) -> i64 {
        Sender::first_request_id(self)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(Sender::close(self))
    }
}
