//! The messages that a stateless call sends before its response.

use std::sync::Arc;

use mcp_runtime_core::transport::{Outgoing, Sender, TransportError};
use tokio::sync::SetOnce;

use super::super::stream::Content;
use super::{HttpSession, SessionKind};

/// The sender of a stateless call. The call gets a session only when it needs one: when it sends a message, or waits
/// for anything else.
#[derive(Debug, Clone)]
pub(crate) struct CallSender {
    session: Arc<SetOnce<Arc<HttpSession>>>,
    pub(crate) kind: SessionKind,
    pub(crate) content: Content,
}

impl CallSender {
    pub(crate) fn new(kind: SessionKind, content: Content) -> Self {
        let session = Arc::default();
        Self { session, kind, content }
    }

    /// Sets the session, to which waiting and all further messages are sent.
    pub(crate) fn begin(&self, session: &Arc<HttpSession>) {
        // Fails only if the session is already set, and a call has only one.
        let _ = self.session.set(Arc::clone(session));
    }
}

impl Sender for CallSender {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        if self.content == Content::Responses {
            tracing::debug!("a message is dropped, since the response can't contain it");
            return Ok(());
        }
        let session = self.session.wait().await;
        if session.ended.is_cancelled() {
            return Err(TransportError::Closed);
        }
        session.route(message).await;
        Ok(())
    }

    fn notifies(&self) -> bool {
        self.kind.notifies()
    }

    fn ends_with_response(&self) -> bool {
        true
    }

    async fn close(&self) {}
}
