//! Responses on their way to the peer.

use std::fmt::Display;
use std::sync::Arc;

use mcp_adapters::mcp_wire::{ErrorObject, ErrorResponse, RequestId};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::task::TaskTracker;

use super::engine::Engine;
use super::ordered_queue::Ticket;
use crate::budget::Charge;
use crate::future::{BoxFuture, catch_panic};
use crate::message::{Purpose, to_json};
use crate::side::Side;

/// What a request holds until its response is sent.
pub struct RequestPermit {
    _permit: OwnedSemaphorePermit,
    _charge: Charge,
    /// The position of the response among the messages to the peer.
    _ticket: Option<Ticket>,
}

impl RequestPermit {
    pub fn new(permit: OwnedSemaphorePermit, charge: Charge) -> Self {
        Self {
            _permit: permit,
            _charge: charge,
            _ticket: None,
        }
    }

    pub fn with_ticket(self, ticket: Option<Ticket>) -> Self {
        Self {
            _ticket: ticket,
            ..self
        }
    }
}

/// The JSON of a response, or nothing if the request was cancelled, and what the request holds.
pub type Response = (Option<Vec<u8>>, Option<RequestPermit>);

/// A response that is ready, or is being made.
pub struct PendingResponse {
    /// The requests that it answers.
    ids: Vec<RequestId>,
    body: Body,
}

enum Body {
    Ready(Vec<u8>),
    Running(BoxFuture<'static, Response>),
}

impl PendingResponse {
    pub fn ready(id: Option<RequestId>, json: Vec<u8>) -> Self {
        let (ids, body) = (id.into_iter().collect(), Body::Ready(json));
        Self { ids, body }
    }

    /// One error for several requests. It names the first, because not every revision has errors without an id.
    pub fn refused_together(ids: Vec<RequestId>, error: ErrorObject) -> Self {
        let first = ids.first().cloned();
        Self {
            ids,
            ..Self::refused(first, error)
        }
    }

    pub fn refused(id: Option<RequestId>, error: ErrorObject) -> Self {
        tracing::debug!(code = error.code, message = error.message, "refused");
        let json = to_json(&ErrorResponse::new(id.clone(), error));
        Self::ready(id, json)
    }

    pub fn running(id: RequestId, response: BoxFuture<'static, Response>) -> Self {
        let (ids, body) = (vec![id], Body::Running(response));
        Self { ids, body }
    }

    /// The same response. If it isn't ready, a task of its own makes it from now on.
    fn spawned(self, tasks: &TaskTracker) -> Self {
        let body = match self.body {
            Body::Running(response) => {
                let task = tasks.spawn(response);
                Body::Running(Box::pin(async move { task.await.unwrap_or_else(serialization_failed) }))
            }
            ready => ready,
        };
        Self { body, ..self }
    }

    /// The size of the response in bytes, if it is ready.
    fn ready_bytes(&self) -> Option<usize> {
        match &self.body {
            Body::Ready(json) => Some(json.len()),
            Body::Running(_) => None,
        }
    }
}

impl<S: Side> Engine<S> {
    /// Sends responses when they are ready, in one array if the requests came in one.
    ///
    /// Nothing waits for that, so a peer that doesn't read its responses can still send. The responses that it hasn't read
    /// are bounded in bytes.
    pub fn send_responses(&self, pending: Vec<PendingResponse>, in_array: bool) {
        let ready = pending.iter().filter_map(PendingResponse::ready_bytes);
        let (count, bytes) = ready.fold((0, 0), |(count, bytes), more| (count + 1, bytes + more));
        let charge = match count == pending.len() {
            true => self.response_bytes.try_charge(bytes),
            // A handler starts only when there is room.
            false => Some(self.response_bytes.charge(bytes)),
        };
        let Some(charge) = charge else {
            tracing::warn!("the peer doesn't read its responses; one is dropped");
            let ids: Vec<RequestId> = pending.into_iter().flat_map(|pending| pending.ids).collect();
            self.session.sender.unanswered(&ids);
            return;
        };
        // The requests of a batch are handled at the same time.
        let pending: Vec<_> = match in_array {
            true => pending
                .into_iter()
                .map(|response| response.spawned(&self.tasks))
                .collect(),
            false => pending,
        };
        let (session, budget) = (Arc::clone(&self.session), Arc::clone(&self.response_bytes));
        self.tasks.spawn(async move {
            let (mut responses, mut ids, mut unanswered, mut permits) =
                (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for PendingResponse { ids: answered, body } in pending {
                let (json, permit) = match body {
                    Body::Ready(json) => (Some(json), None),
                    Body::Running(response) => catch_panic(response).await.unwrap_or_else(serialization_failed),
                };
                let bytes = json.as_ref().map_or(0, Vec::len);
                permits.extend(permit.map(|permit| (permit, budget.charge(bytes))));
                match json {
                    Some(json) => {
                        ids.extend(answered);
                        responses.push(json);
                    }
                    None => unanswered.extend(answered),
                }
            }
            let json = match in_array {
                false => responses.pop(),
                true if responses.is_empty() => None,
                true => Some([b"[", responses.join(&b","[..]).as_slice(), b"]"].concat()),
            };
            drop(responses);
            session.sender.unanswered(&unanswered);
            if let Some(json) = json
                && let Err(error) = session.send(json, Purpose::Response(ids)).await
            {
                tracing::debug!(%error, "a response wasn't sent");
            }
            drop((charge, permits));
        });
    }
}

/// What is left of a response whose making has panicked.
fn serialization_failed(error: impl Display) -> Response {
    tracing::error!(%error, "a response can't be made");
    (None, None)
}
