//! Messages that are passed on unchanged and in order, instead of being converted for a handler.

use std::sync::Arc;

use http::Extensions;
use mcp_adapters::mcp_wire::{
    ErrorObject, ErrorResponse, MessageHeader, MessageKind, RawJson, RequestId, Response, error_code,
};
use mcp_adapters::{PeerTypes, Revision, session_messages};
use mcp_runtime_util::task;
use tokio_util::sync::CancellationToken;

use super::context::{Context, Envelope, Peer};
use super::engine::Engine;
use super::handler::{RawAnswer, RawMessage, Relay};
use super::listen::Setting;
use super::negotiated::Negotiated;
use super::response::PendingResponse;
use crate::error::internal_error;
use crate::message::to_json;
use crate::side::Side;

impl<S: Side> Engine<S> {
    /// Whether a message goes to the relay, if there is one: a request or notification that doesn't belong to a call or
    /// a subscription of this side.
    pub fn is_passed_on(&self, header: &MessageHeader<'_>, revision: Revision) -> bool {
        if header.method().is_none() {
            return false;
        }
        let call = session_messages::progressing_call(revision, header);
        let subscription = session_messages::subscription(revision, header);
        call.is_none_or(|id| !self.session.pending.has_own(&id))
            && subscription.is_none_or(|id| self.session.subscriptions.get(&id).is_none())
    }

    /// Passes on a request or notification.
    pub fn take_raw(
        self: &Arc<Self>,
        relay: &dyn Relay<S>,
        header: &MessageHeader<'_>,
        negotiated: Arc<Negotiated>,
        extensions: Arc<Extensions>,
        in_batch: bool,
    ) -> Option<PendingResponse> {
        let json = header.message().text().as_bytes();
        let method = header.method()?.into_owned();
        let message = RawMessage {
            method,
            json: json.to_vec(),
        };
        if header.kind() == Ok(MessageKind::Notification) {
            let ended = self.session.ended.clone();
            let context = self.raw_context(None, ended, header, negotiated, extensions);
            let Some(charge) = self.request_bytes.try_charge(json.len()) else {
                if let Some(suppressed) = self.unpassed.suppressed() {
                    let method = message.method;
                    tracing::warn!(
                        method,
                        suppressed,
                        "a notification is dropped: too many wait to be passed on"
                    );
                }
                return None;
            };
            let passed = relay.pass_notification(message, context);
            self.tasks.spawn(task(async move {
                passed.await;
                drop(charge);
            }));
            return None;
        }
        let Some(id) = header.id() else {
            let error = ErrorObject::new(error_code::INVALID_REQUEST, "the id is neither a string nor an integer");
            return self.refuse(None, error, json);
        };
        let (permit, cancelled) = match self.admit(&id, json.len()) {
            Ok(admitted) => admitted,
            Err(error) => return Some(PendingResponse::refused(Some(id), error)),
        };
        let context = self.raw_context(Some(id.clone()), cancelled.clone(), header, negotiated, extensions);
        let setting = match S::IS_SERVER {
            true => Setting::of(&message.method, header, context.peer().negotiated().revision).and_then(Result::ok),
            false => None,
        };
        let passed = relay.pass_request(message, context);
        let (engine, answered) = (Arc::clone(self), id.clone());
        let responded = async move {
            let Some(answer) = engine.until_cancelled(&id, &cancelled, passed).await else {
                return (None, Some(permit));
            };
            let answer: RawAnswer = answer.unwrap_or_else(|panic| {
                tracing::error!(panic, "a message can't be passed on");
                internal_error("internal error").into()
            });
            // A relay repeats it when the session of the other side is renewed.
            if let Some(setting) = setting.filter(|_| answer.result.is_ok()) {
                // The peer has accepted it, so there is nobody to report an exceeded limit to.
                let _ = engine.session.set(setting);
            }
            // The responses of a batch are sent together, so this one must not keep its position: earlier responses of
            // the batch can have later positions.
            let ticket = answer.ticket.filter(|_| !in_batch);
            (Some(response(id, answer.result)), Some(permit.with_ticket(ticket)))
        };
        Some(PendingResponse::running(answered, None, Box::pin(responded)))
    }

    pub(super) fn raw_context(
        &self,
        id: Option<RequestId>,
        cancelled: CancellationToken,
        header: &MessageHeader<'_>,
        negotiated: Arc<Negotiated>,
        extensions: Arc<Extensions>,
    ) -> Context<S> {
        let key = negotiated.revision.lifecycle().meta_progress;
        let token = key.and_then(|key| header.param(&["_meta", key]).ok()?);
        Context {
            peer: Peer::of_message(Arc::clone(&self.session), id, negotiated),
            message: Arc::new(Envelope {
                cancelled,
                token: token.and_then(|token| token.decode_as().ok()),
                // The relay gets the whole message.
                meta: None,
                extensions,
                losses: Vec::new(),
                original_params: None,
            }),
        }
    }
}

fn response(id: RequestId, result: Result<RawJson, ErrorObject>) -> Vec<u8> {
    match result {
        Ok(result) => to_json(&Response::new(id, result)),
        Err(error) => to_json(&ErrorResponse::new(Some(id), error)),
    }
}
