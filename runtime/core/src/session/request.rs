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
use super::immediate_handlers::ImmediateHandlers;
use super::json_edit::result_meta;
use super::negotiated::Negotiated;
use super::response::{PendingResponse, RequestPermit, Response};
use super::state::request_span;
use crate::error::internal_error;
use crate::message::to_json;
use crate::side::Side;

/// The initial capacity for a response, in bytes. Most are shorter.
const RESPONSE: usize = 256;

impl<S: Side> Engine<S> {
    /// Refuses a request, or passes it to the handler. `method` is the name of its method in the peer's revision.
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
        // Conversions also remove, without a loss, what other revisions don't need, such as the id of a page to open. Only
        // clients need it, and servers send few requests.
        let is_changed = !losses.is_empty() || !S::IS_SERVER && negotiated.revision != Revision::HUB;
        let original_params = header.params().filter(|_| is_changed);
        let key = negotiated.revision.lifecycle().meta_progress;
        let meta = header.param(&["_meta"]).ok().flatten();
        let token = key.and_then(|key| header.param(&["_meta", key]).ok()?);
        let revision = negotiated.revision;
        let context = Context {
            peer: Peer::of_message(Arc::clone(&self.session), Some(id.clone()), negotiated),
            message: Arc::new(Envelope {
                cancelled,
                token: token.and_then(|token| token.decode_as().ok()),
                meta: meta.and_then(|meta| meta.decode_as().ok()),
                extensions,
                losses,
                original_params: original_params.and_then(|params| params.decode_as().ok()),
            }),
        };
        let target = S::target(&request).map(|(_, name)| name);
        let handler = ImmediateHandlers::key(method, target);
        let span = request_span::<S>(&self.session.span, method, Some(&id), revision, &request);
        let handled = Arc::clone(self).handle(id.clone(), method.to_owned(), request, context, permit);
        PendingResponse::running(id, Some(handler), Box::pin(handled.instrument(span)))
    }

    /// Admits a request of this many bytes, if it is within the limits.
    pub fn admit(&self, id: &RequestId, bytes: usize) -> Result<(RequestPermit, CancellationToken), ErrorObject> {
        let permit = Arc::clone(&self.unsent).try_acquire_owned();
        let permit = permit.map_err(|_| internal_error("too many requests are in flight"))?;
        let charge = self.request_bytes.try_charge(bytes);
        let charge = charge.ok_or_else(|| internal_error("the requests in flight have too many bytes"))?;
        Ok((RequestPermit::new(permit, charge), self.begin_request(id)?))
    }

    /// Registers a request as in flight, and returns a token that is cancelled when the peer cancels the request.
    pub fn begin_request(&self, id: &RequestId) -> Result<CancellationToken, ErrorObject> {
        if self.notifications.is_closed() {
            return Err(internal_error("the session is closing"));
        }
        let mut in_flight = self.session.in_flight.lock();
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

    /// Returns the cancellation token of a request in flight.
    pub fn token(&self, id: &RequestId) -> Option<CancellationToken> {
        let in_flight = self.session.in_flight.lock();
        let place = in_flight.binary_search_by(|(known, _)| known.cmp(id)).ok()?;
        in_flight.get(place).map(|(_, token)| token.clone())
    }

    /// Removes a request from those in flight: the peer can no longer cancel it.
    pub fn end_request(&self, id: &RequestId) {
        let mut in_flight = self.session.in_flight.lock();
        if let Ok(place) = in_flight.binary_search_by(|(known, _)| known.cmp(id)) {
            in_flight.remove(place);
        }
    }

    /// Waits for the future that answers a request, and returns its output or the message of its panic; `None` if the
    /// peer cancels the request or the session ends.
    pub async fn until_cancelled<T>(
        &self,
        id: &RequestId,
        cancelled: &CancellationToken,
        handled: impl Future<Output = T>,
    ) -> Option<Result<T, String>> {
        // If the request ends without an output, even by a drop, this cancels the tasks that its handler has spawned.
        let abandoned = cancelled.drop_guard_ref();
        // Waiting for the tokens costs nothing until it is polled: most handlers are ready at once.
        let stopped = async {
            tokio::select! {
                () = cancelled.cancelled() => {}
                () = self.session.ended.cancelled() => {}
            }
        };
        let handled = tokio::select! {
            biased;
            handled = catch_panic(handled) => Some(handled),
            () = stopped => None,
        };
        if handled.is_some() {
            abandoned.disarm();
        }
        self.end_request(id);
        handled
    }

    /// Runs the handler, and returns the response, or none if the peer cancels the request.
    async fn handle(
        self: Arc<Self>,
        id: RequestId,
        method: String,
        request: Box<S::Request>,
        context: Context<S>,
        permit: RequestPermit,
    ) -> Response {
        let respond = |result| {
            record_error::<S>(&result);
            self.encode_response(context.peer.negotiated(), &method, &id, result)
        };
        // The result is encoded in here, because it is large and each future around this one would move it.
        let responded = pin!(async {
            // `acquire` would use up some of the task's budget (tokio's cooperative scheduling), so `try_acquire` comes
            // first. The semaphore is never closed.
            let _permit = match self.handling.try_acquire() {
                Ok(permit) => Ok(permit),
                Err(_) => self.handling.acquire().await,
            };
            // While the peer doesn't read its responses, no further request is handled.
            self.response_bytes.available().await;
            respond(self.handler.handle_request(*request, &context).await)
        });
        let Some(responded) = self.until_cancelled(&id, context.cancelled(), responded).await else {
            return (None, Some(permit));
        };
        let response = responded.unwrap_or_else(|panic| {
            tracing::error!(method, panic, "a handler failed");
            respond(Err(internal_error("internal error")))
        });
        (Some(response), Some(permit))
    }

    /// Encodes the response in the peer's revision.
    fn encode_response(
        &self,
        negotiated: &Negotiated,
        method: &str,
        id: &RequestId,
        result: Result<HandlerResult<S::Result>, ErrorObject>,
    ) -> Vec<u8> {
        let (mut json, start) = Self::begin_response(id);
        // Only without a conversion, which can add `_meta`.
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
                to_json(&ErrorResponse::new(Some(id.clone()), error))
            }
        }
    }

    /// Returns the start of a response with a result, and its length.
    pub fn begin_response(id: &RequestId) -> (String, usize) {
        let mut json = String::with_capacity(RESPONSE);
        json.push_str(r#"{"jsonrpc":"2.0","id":"#);
        // Encoding fails only for numbers that JSON can't represent, and an id has none.
        let _ = push_value(&mut json, id);
        json.push_str(r#","result":"#);
        let start = json.len();
        (json, start)
    }

    /// Completes a response whose result begins at `start`. Adds the server's name and version to its `_meta`, if the
    /// revision has a key for them. `lacks_meta` states that the result is known to have no `_meta`.
    pub fn end_response(&self, negotiated: &Negotiated, mut json: String, start: usize, lacks_meta: bool) -> Vec<u8> {
        let server = self.server.as_ref();
        let declared = server.and_then(|server| server.result_meta(negotiated.revision));
        let meta = declared.and_then(|it| result_meta(&json[start..], it.0, it.1.text(), lacks_meta));
        if let Some((place, meta)) = meta {
            // The range has boundaries between tokens of the result.
            match place.is_empty() {
                true => json.insert_str(start + place.start, &meta),
                false => json.replace_range(start + place.start..start + place.end, &meta),
            }
        }
        json.push('}');
        json.into_bytes()
    }
}

/// Checks a result whose kind the hub doesn't declare. It is sent unchanged, so it must be valid for the method in the
/// peer's revision.
fn check_undeclared(revision: Revision, method: &str, result: &RawJson) -> Result<(), ErrorObject> {
    revision.validate_result(method, result).map_err(|invalid| {
        tracing::error!(method, %revision, %invalid, "a handler returned a result that isn't valid in the peer's revision");
        internal_error(format!("the result isn't one of {method} in revision {revision}"))
    })
}

/// Records the error of a request in its span, if it has one.
fn record_error<S: Side>(result: &Result<HandlerResult<S::Result>, ErrorObject>) {
    match result {
        Err(error) => {
            Span::current().record("error.type", display(error.code));
        }
        Ok(HandlerResult::Declared(result)) if S::has_failed(result) => {
            Span::current().record("error.type", "tool_error");
        }
        Ok(_) => {}
    }
}
