//! Requests of the peer: admission, the handler, and the response.

use std::pin::pin;
use std::sync::Arc;

use http::Extensions;
use mcp_adapters::mcp_wire::{
    Call, ErrorObject, ErrorResponse, MessageHeader, RawJson, RequestId, error_code, push_value,
};
use mcp_adapters::{Loss, PeerTypes, Revision};
use mcp_runtime_util::catch_panic;
use tokio_util::sync::CancellationToken;
use tracing::field::display;
use tracing::{Instrument, Span};

use super::context::{Context, Envelope, Peer};
use super::engine::Engine;
use super::handler::HandlerResult;
use super::json_edit::result_meta;
use super::negotiated::Negotiated;
use super::response::{PendingResponse, RequestPermit, Response};
use super::state::request_span;
use crate::error::internal_error;
use crate::message::to_json;
use crate::side::Side;

/// The length that most responses don't exceed.
const RESPONSE: usize = 256;

impl<S: Side> Engine<S> {
    /// Takes a request, whose method has this name in the peer's revision: refuses it, or lets the handler handle it.
    pub fn take_request(
        self: &Arc<Self>,
        Call { id, request }: Call<Box<S::Request>>,
        method: &str,
        header: &MessageHeader<'_>,
        negotiated: Arc<Negotiated>,
        extensions: Arc<Extensions>,
        losses: Vec<Loss>,
    ) -> PendingResponse {
        let admitted = self.session.check_request(&negotiated, method);
        let admitted = admitted.and_then(|()| self.admit(&id, header.message().text().len()));
        let (permit, cancelled) = match admitted {
            Ok(admitted) => admitted,
            Err(error) => return PendingResponse::refused(Some(id), error),
        };
        let original_params = header.params().filter(|_| !losses.is_empty());
        let key = negotiated.revision.lifecycle().meta_progress;
        let meta = header.param(&["_meta"]).ok().flatten();
        let token = key.and_then(|key| header.param(&["_meta", key]).ok()?);
        let revision = negotiated.revision;
        let context = Context {
            peer: Peer::of_message(Arc::clone(&self.session), Some(id.clone()), negotiated),
            cancelled,
            message: Arc::new(Envelope {
                token: token.and_then(|token| token.decode_as().ok()),
                meta: meta.and_then(|meta| meta.decode_as().ok()),
                extensions,
                losses,
                original_params: original_params.and_then(|params| params.decode_as().ok()),
            }),
        };
        let target = S::target(&request).map(|(_, name)| name);
        let handler = self.prompt_handlers.key(method, target);
        let span = request_span::<S>(&self.session.span, method, Some(&id), revision, &request);
        let handled = Arc::clone(self).handle(id.clone(), method.to_owned(), request, context, permit);
        PendingResponse::running(id, Some(handler), Box::pin(handled.instrument(span)))
    }

    /// Admits a request of this many bytes, if there is room.
    pub fn admit(&self, id: &RequestId, bytes: usize) -> Result<(RequestPermit, CancellationToken), ErrorObject> {
        let permit = Arc::clone(&self.unsent).try_acquire_owned();
        let permit = permit.map_err(|_| internal_error("too many requests are in flight"))?;
        let charge = self.request_bytes.try_charge(bytes);
        let charge = charge.ok_or_else(|| internal_error("the requests in flight have too many bytes"))?;
        Ok((RequestPermit::new(permit, charge), self.begin_request(id)?))
    }

    /// Begins to handle a request; its token is cancelled when the peer cancels it.
    pub fn begin_request(&self, id: &RequestId) -> Result<CancellationToken, ErrorObject> {
        if self.notifications.is_closed() {
            return Err(internal_error("the session is closing"));
        }
        let mut in_flight = self.in_flight.lock();
        match in_flight.binary_search_by(|(known, _)| known.cmp(id)) {
            Ok(_) => {
                let reason = "a request with this id is still being handled";
                Err(ErrorObject::new(error_code::INVALID_REQUEST, reason))
            }
            Err(place) => {
                let token = CancellationToken::new();
                in_flight.insert(place, (id.clone(), token.clone()));
                Ok(token)
            }
        }
    }

    /// The token of a request that is being handled.
    pub fn token(&self, id: &RequestId) -> Option<CancellationToken> {
        let in_flight = self.in_flight.lock();
        let place = in_flight.binary_search_by(|(known, _)| known.cmp(id)).ok()?;
        in_flight.get(place).map(|(_, token)| token.clone())
    }

    /// The peer can't cancel a request any more.
    pub fn end_request(&self, id: &RequestId) {
        let mut in_flight = self.in_flight.lock();
        if let Ok(place) = in_flight.binary_search_by(|(known, _)| known.cmp(id)) {
            in_flight.remove(place);
        }
    }

    /// Waits for what answers a request, or for the text of its panic; `None` if the peer cancels the request or the session ends.
    pub async fn until_cancelled<T>(
        &self,
        id: &RequestId,
        cancelled: &CancellationToken,
        handled: impl Future<Output = T>,
    ) -> Option<Result<T, String>> {
        // Whatever ends the request ends the tasks that its handler has spawned.
        let abandoned = cancelled.drop_guard_ref();
        let handled = tokio::select! {
            biased;
            handled = catch_panic(handled) => Some(handled),
            () = cancelled.cancelled() => None,
            () = self.session.ended.cancelled() => None,
        };
        if handled.is_some() {
            abandoned.disarm();
        }
        self.end_request(id);
        handled
    }

    /// Runs the handler; the response, or none if the peer cancels the request.
    async fn handle(
        self: Arc<Self>,
        id: RequestId,
        method: String,
        request: Box<S::Request>,
        context: Context<S>,
        permit: RequestPermit,
    ) -> Response {
        let handled = pin!(async {
            // Waiting would take part of what a task may do until others run. The semaphore is never closed.
            let _permit = match self.handling.try_acquire() {
                Ok(permit) => Ok(permit),
                Err(_) => self.handling.acquire().await,
            };
            // A peer that doesn't read its responses gets no further ones.
            self.response_bytes.available().await;
            self.handler.handle_request(*request, &context).await
        });
        let Some(result) = self.until_cancelled(&id, &context.cancelled, handled).await else {
            return (None, Some(permit));
        };
        let result = result.unwrap_or_else(|panic| {
            tracing::error!(method, panic, "a handler failed");
            Err(internal_error("internal error"))
        });
        record_error::<S>(&Span::current(), &result);
        let response = self.encode_response(context.peer.negotiated(), &method, id, result);
        (Some(response), Some(permit))
    }

    /// The response, in the peer's revision.
    fn encode_response(
        &self,
        negotiated: &Negotiated,
        method: &str,
        id: RequestId,
        result: Result<HandlerResult<S::Result>, ErrorObject>,
    ) -> Vec<u8> {
        let (mut json, start) = Self::begin_response(&id);
        // A conversion may add it.
        let lacks_meta = negotiated.revision == Revision::HUB
            && matches!(&result, Ok(HandlerResult::Declared(result)) if S::lacks_meta(result));
        let pushed = result.and_then(|result| match result {
            HandlerResult::Declared(result) => match S::undeclared(&result) {
                Some(result) => {
                    check_undeclared(negotiated.revision, method, result)?;
                    json.push_str(result.text());
                    Ok(Vec::new())
                }
                None => {
                    let pushed = S::push_result(&mut json, negotiated.revision, &result, negotiated.conversion());
                    pushed.map_err(|error| {
                        tracing::debug!(method, %error, "the peer's revision can't represent the result");
                        internal_error(error)
                    })
                }
            },
            HandlerResult::Custom(result) => {
                json.push_str(result.text());
                Ok(Vec::new())
            }
        });
        match pushed {
            Ok(losses) => {
                self.session.report_losses(method, &losses);
                self.end_response(negotiated, json, start, lacks_meta)
            }
            Err(error) => {
                let error = self.session.error_for_peer(negotiated, method, error);
                to_json(&ErrorResponse::new(Some(id), error))
            }
        }
    }

    /// The start of a response with a result, and its length.
    pub fn begin_response(id: &RequestId) -> (String, usize) {
        let mut json = String::with_capacity(RESPONSE);
        json.push_str(r#"{"jsonrpc":"2.0","id":"#);
        // Ids have no number that JSON can't represent.
        let _ = push_value(&mut json, id);
        json.push_str(r#","result":"#);
        let start = json.len();
        (json, start)
    }

    /// A response whose result begins at `start`, and may be known to lack `_meta`. It names this server, if the revision has a place for
    /// that.
    pub fn end_response(&self, negotiated: &Negotiated, mut json: String, start: usize, lacks_meta: bool) -> Vec<u8> {
        let server = self.server.as_ref();
        let stamp = server.and_then(|server| server.result_stamp(negotiated.revision));
        let meta = stamp.and_then(|stamp| result_meta(&json[start..], stamp.0, stamp.1.text(), lacks_meta));
        if let Some((place, meta)) = meta {
            // The place is between tokens of the result.
            match place.is_empty() {
                true => json.insert_str(start + place.start, &meta),
                false => json.replace_range(start + place.start..start + place.end, &meta),
            }
        }
        json.push('}');
        json.into_bytes()
    }
}

/// A result whose kind the hub doesn't declare. It is sent as it is, so it must be one of the method in the peer's revision.
fn check_undeclared(revision: Revision, method: &str, result: &RawJson) -> Result<(), ErrorObject> {
    revision.validate_result(method, result).map_err(|invalid| {
        tracing::error!(method, %revision, %invalid, "a handler gives a result that the peer's revision doesn't have");
        internal_error(format!("the result is none that {method} has in revision {revision}"))
    })
}

/// Records the error of a request, if it has one.
fn record_error<S: Side>(span: &Span, result: &Result<HandlerResult<S::Result>, ErrorObject>) {
    match result {
        Err(error) => {
            span.record("error.type", display(error.code));
        }
        Ok(HandlerResult::Declared(result)) if S::has_failed(result) => {
            span.record("error.type", "tool_error");
        }
        Ok(_) => {}
    }
}
