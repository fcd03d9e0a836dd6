//! Transports and connectors without their types, so that sessions are compiled once for all of them.

use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::RequestId;
use mcp_runtime_util::BoxFuture;

use crate::error::TransportError;
use crate::message::{Incoming, Intake, Outgoing, Receiver, Restart, Sender, Transport};
use crate::transport::Connector;

/// A [`Transport`] of any type.
pub struct DynTransport {
    pub(super) sender: Box<dyn DynSender>,
    pub(super) receiver: Box<dyn DynReceiver>,
    pub(super) restart: Option<Restart<Self>>,
}

impl<T: Transport> From<T> for DynTransport {
    fn from(mut transport: T) -> Self {
        let restart = transport.restart();
        let (sender, receiver) = transport.split();
        Self {
            sender: Box::new(sender),
            receiver: Box::new(receiver),
            restart: restart.map(|restart| -> Restart<Self> { Box::new(|| restart().map(Self::from)) }),
        }
    }
}

/// A [`Connector`] of any type.
pub struct DynConnector(Box<dyn Fn() -> BoxFuture<'static, Result<DynTransport, TransportError>> + Send + Sync>);

impl<C: Connector> From<C> for DynConnector {
    fn from(connector: C) -> Self {
        let connector = Arc::new(connector);
        Self(Box::new(move || {
            let connector = Arc::clone(&connector);
            Box::pin(async move { connector.connect().await.map(DynTransport::from) })
        }))
    }
}

impl DynConnector {
    /// Connects to the server.
    pub async fn connect(&self) -> Result<DynTransport, TransportError> {
        (self.0)().await
    }
}

/// A [`Sender`] that can be a trait object.
pub trait DynSender: Send + Sync {
    fn send(&self, message: Outgoing) -> BoxFuture<'_, Result<(), TransportError>>;
    fn send_all(&self, messages: Vec<Outgoing>) -> BoxFuture<'_, Result<(), TransportError>>;
    fn try_send_all(&self, messages: &mut Vec<Outgoing>) -> bool;
    fn unanswered(&self, ids: &[RequestId]);
    fn negotiated(&self, revision: Revision);
    fn first_request_id(&self) -> i64;
    fn suspended(&self) -> Duration;
    fn times_out(&self) -> bool;
    fn notifies(&self) -> bool;
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

    fn try_send_all(&self, messages: &mut Vec<Outgoing>) -> bool {
        Sender::try_send_all(self, messages)
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

    fn times_out(&self) -> bool {
        Sender::times_out(self)
    }

    fn notifies(&self) -> bool {
        Sender::notifies(self)
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

/// A [`Receiver`] that can be a trait object.
pub trait DynReceiver: Send {
    fn receive(&mut self) -> BoxFuture<'_, Result<Option<Incoming>, TransportError>>;
    fn half_closes(&self) -> bool;
    fn begin(&mut self, intake: Intake);
}

impl<T: Receiver> DynReceiver for T {
    fn receive(&mut self) -> BoxFuture<'_, Result<Option<Incoming>, TransportError>> {
        Box::pin(Receiver::receive(self))
    }

    fn half_closes(&self) -> bool {
        Receiver::half_closes(self)
    }

    fn begin(&mut self, intake: Intake) {
        Receiver::begin(self, intake);
    }
}
