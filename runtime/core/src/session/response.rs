//! Responses that are made for the peer.

use std::fmt::Display;

use mcp_adapters::mcp_wire::{ErrorObject, ErrorResponse, RequestId};
use mcp_runtime_util::{BoxFuture, Charge, catch_panic};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::task::TaskTracker;

use super::ordered_queue::Ticket;
use super::prompt_handlers::HandlerKey;
use crate::message::{Outgoing, to_json};

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
    pub ids: Vec<RequestId>,
    pub body: Body,
}

pub enum Body {
    Ready(Vec<u8>),
    /// The response, and the handler that makes it, if it may be one that answers at once.
    Running(BoxFuture<'static, Response>, Option<HandlerKey>),
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

    /// A response that is being made. With a key, it is by a handler that may answer at once.
    pub fn running(id: RequestId, handler: Option<HandlerKey>, response: BoxFuture<'static, Response>) -> Self {
        let (ids, body) = (vec![id], Body::Running(response, handler));
        Self { ids, body }
    }

    /// The response once it is made, whether or not its handler panics.
    pub async fn made(self) -> Response {
        match self.body {
            Body::Ready(json) => (Some(json), None),
            Body::Running(response, _) => catch_panic(response).await.unwrap_or_else(serialization_failed),
        }
    }

    /// The same response. If it isn't ready, a task of its own makes it from now on.
    pub fn spawned(self, tasks: &TaskTracker) -> Self {
        let body = match self.body {
            Body::Running(response, _) => {
                let task = tasks.spawn(response);
                let response = async move { task.await.unwrap_or_else(serialization_failed) };
                Body::Running(Box::pin(response), None)
            }
            ready => ready,
        };
        Self { body, ..self }
    }

    /// The size of the response in bytes, if it is ready.
    pub fn ready_bytes(&self) -> Option<usize> {
        match &self.body {
            Body::Ready(json) => Some(json.len()),
            Body::Running(..) => None,
        }
    }
}

/// Responses that are ready, and go out together.
#[derive(Default)]
pub struct Outbox {
    pub messages: Vec<Outgoing>,
    pub bytes: usize,
    /// What their requests hold until they are sent.
    pub held: Vec<(Charge, Option<RequestPermit>)>,
}

/// What is left of a response whose making has panicked.
pub fn serialization_failed(error: impl Display) -> Response {
    tracing::error!(%error, "a response can't be made");
    (None, None)
}
