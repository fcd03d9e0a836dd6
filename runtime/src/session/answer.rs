//! Answers on their way to the peer.

use std::sync::Arc;

use mcp_adapters::mcp_wire::{ErrorObject, ErrorResponse, RequestId};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;

use super::budget::Charge;
use super::engine::Engine;
use crate::side::Side;
use crate::transport::Purpose;

/// What a request takes from when it comes until its answer is sent.
pub type Place = (OwnedSemaphorePermit, Charge);

/// What a request came to: the JSON of its answer, or nothing if it was cancelled.
pub type Answer = (Option<Vec<u8>>, Place);

/// An answer that is there or will be.
pub struct Pending {
    /// The requests that it answers.
    ids: Vec<RequestId>,
    answer: Later,
}

enum Later {
    Ready(Vec<u8>),
    Task(JoinHandle<Answer>),
}

impl Pending {
    pub fn ready(id: Option<RequestId>, json: Vec<u8>) -> Self {
        let (ids, answer) = (id.into_iter().collect(), Later::Ready(json));
        Self { ids, answer }
    }

    /// One answer to several requests, which names the first: not every revision has errors without an id.
    pub fn refused_together(ids: Vec<RequestId>, error: ErrorObject) -> Self {
        let first = ids.first().cloned();
        Self {
            ids,
            ..Self::refused(first, error)
        }
    }

    pub fn refused(id: Option<RequestId>, error: ErrorObject) -> Self {
        tracing::debug!(code = error.code, message = error.message, "refused");
        let json = encode(&ErrorResponse::new(id.clone(), error));
        Self::ready(id, json)
    }

    pub fn later(id: RequestId, task: JoinHandle<Answer>) -> Self {
        let (ids, answer) = (vec![id], Later::Task(task));
        Self { ids, answer }
    }

    /// How many bytes the answer has, if it is there.
    fn ready_bytes(&self) -> Option<usize> {
        match &self.answer {
            Later::Ready(json) => Some(json.len()),
            Later::Task(_) => None,
        }
    }
}

impl<S: Side> Engine<S> {
    /// Sends answers once they are there: in one array if the requests came in one. Nobody waits for that, so that a peer
    /// that doesn't read is still heard; what it could have read and hasn't is bounded.
    pub(super) fn send_answers(&self, pending: Vec<Pending>, in_array: bool) {
        let ready = pending.iter().filter_map(Pending::ready_bytes);
        let (count, bytes) = ready.fold((0, 0), |(count, bytes), more| (count + 1, bytes + more));
        let unread = match count == pending.len() {
            true => self.unread.try_charge(bytes),
            // What is handled has had room when it began.
            false => Some(self.unread.charge(bytes)),
        };
        let Some(unread) = unread else {
            tracing::warn!("the peer doesn't read its answers, and gets one less");
            let ids: Vec<RequestId> = pending.into_iter().flat_map(|pending| pending.ids).collect();
            self.shared.sender.unanswered(&ids);
            return;
        };
        let (shared, budget) = (Arc::clone(&self.shared), Arc::clone(&self.unread));
        self.tasks.spawn(async move {
            let (mut answers, mut ids, mut unanswered, mut held) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for Pending { ids: answered, answer } in pending {
                let json = match answer {
                    Later::Ready(json) => Some(json),
                    Later::Task(task) => match task.await {
                        Ok((json, place)) => {
                            let bytes = json.as_ref().map_or(0, Vec::len);
                            held.push((place, budget.charge(bytes)));
                            json
                        }
                        Err(_) => None,
                    },
                };
                match json {
                    Some(json) => {
                        ids.extend(answered);
                        answers.push(json);
                    }
                    None => unanswered.extend(answered),
                }
            }
            let json = match in_array {
                false => answers.pop(),
                true if answers.is_empty() => None,
                true => Some([b"[", answers.join(&b","[..]).as_slice(), b"]"].concat()),
            };
            drop(answers);
            shared.sender.unanswered(&unanswered);
            if let Some(json) = json
                && let Err(error) = shared.send(json, Purpose::Answer(ids)).await
            {
                tracing::debug!(%error, "an answer wasn't sent");
            }
            drop((unread, held));
        });
    }
}

/// A message as JSON.
pub fn encode(message: &impl serde::Serialize) -> Vec<u8> {
    // Only a map whose keys are no strings could fail, and a message has none.
    serde_json::to_vec(message).unwrap_or_default()
}
