//! The transport to a server, either a process or HTTP.

use std::time::Duration;

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::RequestId;
use mcp_runtime_core::transport::{Incoming, Intake, Outgoing, Receiver, Restart, Sender, Transport, TransportError};
use mcp_runtime_http::client::{HttpClient, HttpReceiver, HttpSender};
use mcp_runtime_local::stdio::{ChildReceiver, ChildSender, ChildTransport};

/// The transport to a server: its process, or HTTP.
pub enum ServerTransport {
    /// A process.
    Process(Box<ChildTransport>),
    /// HTTP.
    Http(Box<HttpClient>),
}

/// The half of a [`ServerTransport`] that sends.
pub enum ServerSender {
    /// To a process.
    Process(Box<ChildSender>),
    /// Over HTTP.
    Http(Box<HttpSender>),
}

/// The half of a [`ServerTransport`] that receives.
pub enum ServerReceiver {
    /// From a process.
    Process(ChildReceiver),
    /// Over HTTP.
    Http(HttpReceiver),
}

#[deny(clippy::missing_trait_methods)]
impl Transport for ServerTransport {
    type Sender = ServerSender;
    type Receiver = ServerReceiver;

    fn split(self) -> (ServerSender, ServerReceiver) {
        match self {
            Self::Process(child) => {
                let (sender, receiver) = child.split();
                (
                    ServerSender::Process(Box::new(sender)),
                    ServerReceiver::Process(receiver),
                )
            }
            Self::Http(client) => {
                let (sender, receiver) = client.split();
                (ServerSender::Http(Box::new(sender)), ServerReceiver::Http(receiver))
            }
        }
    }

    fn restart(&mut self) -> Option<Restart<Self>> {
        match self {
            Self::Process(child) => {
                let restart = child.restart()?;
                Some(Box::new(move || restart().map(|child| Self::Process(Box::new(child)))))
            }
            Self::Http(client) => {
                let restart = client.restart()?;
                Some(Box::new(move || restart().map(|client| Self::Http(Box::new(client)))))
            }
        }
    }
}

/// Makes the same call on either kind of sender or receiver.
macro_rules! each {
    ($half:expr, $inner:ident => $call:expr) => {
        match $half {
            Self::Process($inner) => $call,
            Self::Http($inner) => $call,
        }
    };
}

#[deny(clippy::missing_trait_methods)]
impl Sender for ServerSender {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        each!(self, inner => inner.send(message).await)
    }

    async fn send_all(&self, messages: Vec<Outgoing>) -> Result<(), TransportError> {
        each!(self, inner => inner.send_all(messages).await)
    }

    fn try_send_all(&self, messages: &mut Vec<Outgoing>) -> bool {
        each!(self, inner => inner.try_send_all(messages))
    }

    fn unanswered(&self, ids: &[RequestId]) {
        each!(self, inner => inner.unanswered(ids));
    }

    fn negotiated(&self, revision: Revision) {
        each!(self, inner => inner.negotiated(revision));
    }

    fn suspended(&self) -> Duration {
        each!(self, inner => inner.suspended())
    }

    fn times_out(&self) -> bool {
        each!(self, inner => inner.times_out())
    }

    fn notifies(&self) -> bool {
        each!(self, inner => inner.notifies())
    }

    fn ends_with_response(&self) -> bool {
        each!(self, inner => inner.ends_with_response())
    }

    fn first_request_id(&self) -> i64 {
        each!(self, inner => inner.first_request_id())
    }

    async fn close(&self) {
        each!(self, inner => inner.close().await);
    }
}

#[deny(clippy::missing_trait_methods)]
impl Receiver for ServerReceiver {
    async fn receive(&mut self) -> Result<Option<Incoming>, TransportError> {
        each!(self, inner => inner.receive().await)
    }

    fn half_closes(&self) -> bool {
        each!(self, inner => inner.half_closes())
    }

    fn begin(&mut self, intake: Intake) {
        each!(self, inner => inner.begin(intake));
    }
}
