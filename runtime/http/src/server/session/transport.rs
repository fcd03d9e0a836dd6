//! The transport of a session's engine.

use std::fmt;
use std::sync::Arc;

use mcp_adapters::mcp_wire::RequestId;
use mcp_runtime_core::transport::{ChannelReceiver, Incoming, Outgoing, Receiver, Sender, Transport, TransportError};

use super::HttpSession;

/// The transport between a session's engine and its client.
///
/// The session ends when the engine closes this or drops its receiving half.
pub struct SessionTransport {
    sender: SessionSender,
    receiver: SessionReceiver,
}

/// The sending half of a [`SessionTransport`].
///
/// A message waits for room in its stream, and so its sender waits only for the reader of that stream.
#[derive(Debug)]
pub struct SessionSender(Arc<HttpSession>);

/// The receiving half of a [`SessionTransport`].
#[derive(Debug)]
pub struct SessionReceiver {
    session: Arc<HttpSession>,
    posted: ChannelReceiver,
    /// The engine knows that the server shuts down.
    is_closing: bool,
}

impl SessionTransport {
    pub(crate) fn new(session: Arc<HttpSession>, posted: ChannelReceiver) -> Self {
        Self {
            sender: SessionSender(session.clone()),
            receiver: SessionReceiver {
                session,
                posted,
                is_closing: false,
            },
        }
    }
}

impl Transport for SessionTransport {
    type Sender = SessionSender;
    type Receiver = SessionReceiver;

    fn split(self) -> (SessionSender, SessionReceiver) {
        (self.sender, self.receiver)
    }
}

impl fmt::Debug for SessionTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionTransport").finish_non_exhaustive()
    }
}

impl Sender for SessionSender {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        if self.0.ended.is_cancelled() {
            return Err(TransportError::Closed);
        }
        self.0.route(message).await;
        Ok(())
    }

    fn unanswered(&self, ids: &[RequestId]) {
        self.0.unanswered(ids);
    }

    fn notifies(&self) -> bool {
        self.0.kind.notifies()
    }

    fn ends_with_response(&self) -> bool {
        self.0.kind.is_stateless()
    }

    fn first_request_id(&self) -> i64 {
        self.0.engine.first_request_id()
    }

    async fn close(&self) {
        self.0.end();
    }
}

impl Receiver for SessionReceiver {
    async fn receive(&mut self) -> Result<Option<Incoming>, TransportError> {
        tokio::select! {
            biased;
            received = self.posted.receive() => received,
            () = self.session.shutdown.cancelled(), if !self.is_closing => {
                self.is_closing = true;
                Ok(Some(Incoming::Closing))
            }
        }
    }
}

impl Drop for SessionReceiver {
    fn drop(&mut self) {
        self.session.end();
    }
}
