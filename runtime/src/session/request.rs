//! Requests of the peer: admission, the handler, and the response.

use std::sync::Arc;

use http::Extensions;
use mcp_adapters::Loss;
use mcp_adapters::mcp_wire::{Call, ErrorObject, ErrorResponse, MessageHeader, RequestId, Response, error_code};
use tokio_util::sync::CancellationToken;

use super::context::Context;
use super::engine::Engine;
use super::handler::HandlerResult;
use super::peer::Peer;
use super::response::PendingResponse;
use crate::message::to_json;
use crate::side::Side;

impl<S: Side> Engine<S> {
    /// Takes a request: refuses it, answers it at once, or spawns the task that handles it.
    pub fn take_request(
        self: &Arc<Self>,
        Call { id, request }: Call<S::Request>,
        header: &MessageHeader<'_>,
        extensions: Arc<Extensions>,
        losses: Vec<Loss>,
    ) -> PendingResponse {
        let refused = |error: ErrorObject| PendingResponse::refused(Some(id.clone()), error);
        if S::is_ping(&request) {
            return self.respond_now(&id, Ok(S::empty_result()));
        }
        if let (Some(params), Some(server)) = (S::initialize_params(&request), &self.server) {
            let limit = self.session.options.limits.initialize_bytes;
            if header.params().is_some_and(|params| params.text().len() > limit) {
                let reason = format!("the parameters of `initialize` may have {limit} bytes at most");
                return refused(ErrorObject::new(error_code::INVALID_PARAMS, reason));
            }
            return self.respond_now(&id, self.session.accept_initialize(params, server));
        }
        if self.session.revision().is_none() {
            let reason = "the session has not begun: send `initialize` first";
            return refused(ErrorObject::new(error_code::INVALID_REQUEST, reason));
        }
        let method = S::method(&request);
        if let Err(error) = self.session.check_request(method) {
            return refused(error);
        }
        if self.notifications.is_closed() {
            return refused(ErrorObject::new(error_code::INTERNAL_ERROR, "the session is closing"));
        }
        let too_many = |why| refused(ErrorObject::new(error_code::INTERNAL_ERROR, why));
        let Ok(permit) = Arc::clone(&self.unsent).try_acquire_owned() else {
            return too_many("too many requests are in flight");
        };
        let Some(charge) = self.request_bytes.try_charge(header.message().text().len()) else {
            return too_many("the requests in flight have too many bytes");
        };
        let cancelled = CancellationToken::new();
        {
            let mut in_flight = self.in_flight.lock();
            if in_flight.contains_key(&id) {
                drop(in_flight);
                return refused(ErrorObject::new(
                    error_code::INVALID_REQUEST,
                    "a request with this id is still being handled",
                ));
            }
            in_flight.insert(id.clone(), cancelled.clone());
        }
        let token = header.param(&["_meta", "progressToken"]).ok().flatten();
        let context = Context {
            peer: Peer::new(Arc::clone(&self.session), Some(id.clone())),
            id: Some(id.clone()),
            token: token.and_then(|token| token.decode_as().ok()),
            cancelled,
            extensions,
            losses,
        };
        let engine = Arc::clone(self);
        let handled = async move { (engine.handle(request, context).await, (permit, charge)) };
        PendingResponse::spawned(id, self.tasks.spawn(handled))
    }

    fn respond_now(&self, id: &RequestId, result: Result<S::Result, ErrorObject>) -> PendingResponse {
        let json = self.encode_response("", id, result.map(HandlerResult::Declared));
        PendingResponse::ready(Some(id.clone()), json)
    }

    /// Runs the handler; the JSON of its response, or `None` if the peer cancels the request.
    async fn handle(self: Arc<Self>, request: S::Request, context: Context<S>) -> Option<Vec<u8>> {
        let id = context.id.clone()?;
        let method = S::method(&request).to_owned();
        let cancelled = context.cancelled.clone();
        let engine = Arc::clone(&self);
        // In a task of its own, so that a panic ends only this request.
        let handling = Arc::clone(&self.handling);
        let mut task = tokio::spawn(async move {
            // The semaphore is never closed.
            let _permit = handling.acquire_owned().await;
            // A peer that doesn't read its responses gets no further ones.
            engine.response_bytes.available().await;
            engine.handler.handle_request(request, &context).await
        });
        let result = tokio::select! {
            biased;
            result = &mut task => Some(result),
            () = cancelled.cancelled() => None,
            () = self.session.ended.cancelled() => None,
        };
        self.in_flight.lock().remove(&id);
        let result = match result {
            None => {
                task.abort();
                return None;
            }
            Some(Ok(result)) => result,
            Some(Err(error)) => {
                tracing::error!(method, %error, "a handler failed");
                Err(ErrorObject::new(error_code::INTERNAL_ERROR, "internal error"))
            }
        };
        Some(self.encode_response(&method, &id, result))
    }

    fn encode_response(
        &self,
        method: &str,
        id: &RequestId,
        result: Result<HandlerResult<S::Result>, ErrorObject>,
    ) -> Vec<u8> {
        let result = result.and_then(|result| match result {
            HandlerResult::Declared(result) => {
                S::encode_result(self.session.current_revision(), result).map_err(|error| {
                    tracing::debug!(method, %error, "the peer's revision can't represent the result");
                    ErrorObject::new(error_code::INTERNAL_ERROR, error.to_string())
                })
            }
            HandlerResult::Custom(result) => Ok((result, Vec::new())),
        });
        match result {
            Ok((result, losses)) => {
                self.session.report_losses(method, &losses);
                to_json(&Response::new(id.clone(), result))
            }
            Err(error) => to_json(&ErrorResponse::new(Some(id.clone()), error)),
        }
    }
}
