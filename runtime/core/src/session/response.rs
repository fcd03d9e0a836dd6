//! Responses to the peer, pending or ready.

use std::fmt::Display;

use mcp_adapters::mcp_wire::{ErrorObject, ErrorResponse, RequestId};
use mcp_runtime_util::{BoxFuture, Charge, catch_panic};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::task::TaskTracker;

use super::immediate_handlers::HandlerKey;
use super::ordered_queue::Ticket;
use crate::message::{Outgoing, to_json};

/// The resources that a request holds until its response is sent.
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

/// The JSON of a response, or `None` if the request was cancelled, and the resources that the request holds.
pub type Response = (Option<Vec<u8>>, Option<RequestPermit>);

/// A response that is ready, or still being produced.
pub struct PendingResponse {
    /// The requests that it answers.
    pub ids: Vec<RequestId>,
    pub body: Body,
}

pub enum Body {
    Ready(Vec<u8>),
    /// The future of the response, and the key of its handler, if that can be a prompt one.
    Running(BoxFuture<'static, Response>, Option<HandlerKey>),
}

impl PendingResponse {
    pub fn ready(id: Option<RequestId>, json: Vec<u8>) -> Self {
        let (ids, body) = (id.into_iter().collect(), Body::Ready(json));
        Self { ids, body }
    }

    /// Creates one error for several requests. It has the id of the first, because not every revision has errors
    /// without an id.
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

    /// Creates a response that is still being produced. The key identifies a handler that can be a prompt one.
    pub fn running(id: RequestId, handler: Option<HandlerKey>, response: BoxFuture<'static, Response>) -> Self {
        let (ids, body) = (vec![id], Body::Running(response, handler));
        Self { ids, body }
    }

    /// Waits for the response, and catches a panic of its handler.
    pub async fn made(self) -> Response {
        match self.body {
            Body::Ready(json) => (Some(json), None),
            Body::Running(response, _) => catch_panic(response).await.unwrap_or_else(serialization_failed),
        }
    }

    /// If the response isn't ready, spawns a task that produces it.
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

    /// Returns the size of the response in bytes, if it is ready.
    pub fn ready_bytes(&self) -> Option<usize> {
        match &self.body {
            Body::Ready(json) => Some(json.len()),
            Body::Running(..) => None,
        }
    }
}

/// Ready responses that are sent together.
#[derive(Default)]
pub struct Outbox {
    pub messages: Vec<Outgoing>,
    pub bytes: usize,
    /// The resources that their requests hold until they are sent.
    pub held: Vec<(Charge, Option<RequestPermit>)>,
}

/// Logs the failure of a response whose future has panicked, and returns an empty one.
pub fn serialization_failed(error: impl Display) -> Response {
    tracing::error!(%error, "producing a response failed");
    (None, None)
}
