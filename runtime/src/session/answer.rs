//! Answers on their way to the peer.

use std::sync::Arc;

use mcp_adapters::mcp_wire::RequestId;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::task::TaskTracker;

use super::shared::Shared;
use crate::side::Side;
use crate::transport::{Purpose, TransportError};

/// What a request came to: the JSON of its answer, or nothing if it was cancelled; and its place until that is sent.
pub type Answer = (Option<Vec<u8>>, OwnedSemaphorePermit);

/// An answer that is there or will be.
pub struct Pending {
    id: Option<RequestId>,
    answer: Later,
}

enum Later {
    Ready(Vec<u8>),
    Task(tokio::task::JoinHandle<Answer>),
}

impl Pending {
    pub fn ready(id: Option<RequestId>, json: Vec<u8>) -> Self {
        let answer = Later::Ready(json);
        Self { id, answer }
    }

    pub fn later(id: Option<RequestId>, task: tokio::task::JoinHandle<Answer>) -> Self {
        let answer = Later::Task(task);
        Self { id, answer }
    }

    pub fn is_ready(&self) -> bool {
        matches!(self.answer, Later::Ready(_))
    }

    pub async fn finish(self) -> (Option<RequestId>, Option<Vec<u8>>, Option<OwnedSemaphorePermit>) {
        match self.answer {
            Later::Ready(json) => (self.id, Some(json), None),
            Later::Task(task) => match task.await {
                Ok((json, place)) => (self.id, json, Some(place)),
                Err(_) => (self.id, None, None),
            },
        }
    }

    /// Sends the answer: at once if it is there, else in a task of its own.
    pub async fn send<S: Side>(self, shared: &Arc<Shared<S>>, tasks: &TaskTracker) {
        let shared = Arc::clone(shared);
        let is_ready = self.is_ready();
        let sending = async move {
            let (id, json, _place) = self.finish().await;
            if let Some(json) = json {
                report_unsent(shared.send(json, Purpose::Answer(id.into_iter().collect())).await);
            }
        };
        if is_ready {
            sending.await;
        } else {
            tasks.spawn(sending);
        }
    }
}

/// A message as JSON.
pub fn encode(message: &impl serde::Serialize) -> Vec<u8> {
    // Only a map whose keys are no strings could fail, and a message has none.
    serde_json::to_vec(message).unwrap_or_default()
}

/// Notes that an answer has not reached the peer, which is then gone.
pub fn report_unsent(sent: Result<(), TransportError>) {
    if let Err(error) = sent {
        tracing::debug!(%error, "an answer wasn't sent");
    }
}
