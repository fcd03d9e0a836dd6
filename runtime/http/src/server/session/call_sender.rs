//! What a call sends before its response.

use std::sync::Arc;

use mcp_runtime_core::transport::{Outgoing, Sender, TransportError};
use tokio::sync::SetOnce;

use super::super::stream::Content;
use super::{HttpSession, SessionKind};

/// The sender of a call that has a session only once it needs one: when it sends a message, or waits for anything else.
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

    /// Sends what is waiting, and all else, to the client of this session.
    pub(crate) fn begin(&self, session: &Arc<HttpSession>) {
        // A call has one session.
        let _ = self.session.set(Arc::clone(session));
    }
}

impl Sender for CallSender {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        if self.content == Content::Responses {
            tracing::debug!("a message is dropped, since the response has no place for it");
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
