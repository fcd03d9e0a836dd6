//! What links the session with a server to its clients.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::Instant;

use super::asking::Questions;
use super::calls::Calls;
use crate::era::Era;
use crate::session::SessionState;
use crate::side::{ClientSide, ServerSide};

/// A client of the bridge.
pub struct Front {
    pub state: Arc<SessionState<ServerSide>>,
    /// The calls of the server to the client.
    pub calls: Arc<Calls<ClientSide>>,
}

/// What links the session with a server to its clients.
pub struct Links {
    /// The era of the clients, or of the first one of a stateless server.
    pub era: Era,
    /// The calls of the clients.
    pub calls: Arc<Calls<ServerSide>>,
    /// The only client of a server with sessions that is of its era.
    pub front: watch::Sender<Option<Arc<Front>>>,
    /// What the server asks stateless clients.
    pub questions: Arc<Questions>,
}

impl Links {
    pub fn new(era: Era, questions: Arc<Questions>) -> Arc<Self> {
        Arc::new(Self {
            era,
            calls: Arc::default(),
            front: watch::Sender::new(None),
            questions,
        })
    }

    /// Since when nothing has been in flight; `None` if something is.
    pub fn idle_since(&self) -> Option<Instant> {
        let front = self.front.borrow().clone();
        let of_server = front.map(|front| front.calls.idle_since());
        if self.questions.has_calls() || of_server == Some(None) {
            return None;
        }
        self.calls.idle_since()
    }

    /// The client, if it has completed its handshake.
    pub fn ready_front(&self) -> Option<Arc<Front>> {
        let front = self.front.borrow().clone();
        front.filter(|front| front.state.begun.is_cancelled())
    }

    /// The client, once it has completed its handshake.
    pub async fn begun_front(&self) -> Option<Arc<Front>> {
        let mut front = self.front.subscribe();
        let front = front.wait_for(Option::is_some).await.ok()?.clone()?;
        tokio::select! {
            () = front.state.begun.cancelled() => {}
            () = front.state.ended.cancelled() => return None,
        }
        Some(front)
    }
}
