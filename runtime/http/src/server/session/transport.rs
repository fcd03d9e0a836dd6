//! The transport of a session's engine.

use std::fmt;
use std::sync::Arc;

use mcp_adapters::mcp_wire::RequestId;
use mcp_runtime_core::transport::{Incoming, Intake, Outgoing, Purpose, Receiver, Sender, Transport, TransportError};
use tokio::sync::mpsc;

use super::HttpSession;
use super::to_engine::ToEngine;

/// The transport between a session's engine and its client.
///
/// The session ends when the engine closes this or drops its receiving half.
pub struct SessionTransport {
    sender: SessionSender,
    receiver: SessionReceiver,
}

/// The sending half of a [`SessionTransport`].
///
/// A message waits while its stream's buffer is full, so its sender waits only for the reader of that stream.
#[derive(Debug)]
pub struct SessionSender(Arc<HttpSession>);

/// The receiving half of a [`SessionTransport`].
#[derive(Debug)]
pub struct SessionReceiver {
    session: Arc<HttpSession>,
    /// The messages that the client posts until the engine has an [`Intake`].
    posted: Option<mpsc::Receiver<Incoming>>,
    /// Whether the engine has been notified that the server shuts down.
    is_closing: bool,
}

impl SessionTransport {
    /// The only transport of a session.
    pub(crate) fn new(session: Arc<HttpSession>) -> Self {
        let (to_engine, posted) = mpsc::channel(session.limits.capacity);
        *session.to_engine.lock() = ToEngine::Channel(to_engine);
        Self {
            sender: SessionSender(session.clone()),
            receiver: SessionReceiver {
                session,
                posted: Some(posted),
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

    fn try_send_all(&self, messages: &mut Vec<Outgoing>) -> bool {
        // All responses of HTTP with SSE share one stream, so they wait until the client has read enough of it.
        if !self.0.is_legacy() && !self.0.ended.is_cancelled() {
            for response in messages.extract_if(.., |message| matches!(message.purpose, Purpose::Response(_))) {
                if let Purpose::Response(ids) = response.purpose {
                    self.0.respond(&ids, response.json.into());
                }
            }
        }
        messages.is_empty()
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
        let posted = async {
            if let Some(posted) = &mut self.posted
                && let Some(message) = posted.recv().await
            {
                return Some(message);
            }
            // From now on, the engine gets messages through its intake, if it has one.
            self.posted = None;
            self.session.ended.cancelled().await;
            // Requests in flight get their error responses before their handlers are cancelled.
            self.session.close_all();
            None
        };
        tokio::select! {
            biased;
            received = posted => Ok(received),
            () = self.session.shutdown.cancelled(), if !self.is_closing => {
                self.is_closing = true;
                Ok(Some(Incoming::Closing))
            }
        }
    }

    fn begin(&mut self, intake: Intake) {
        let mut to_engine = self.session.to_engine.lock();
        // Messages that were posted before this are still received from the channel.
        if let ToEngine::Channel(_) = &*to_engine {
            *to_engine = ToEngine::Intake(intake);
        }
    }
}

impl Drop for SessionReceiver {
    fn drop(&mut self) {
        self.session.end();
    }
}
