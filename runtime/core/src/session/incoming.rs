//! Incoming messages: decoding, checks, and dispatch.

use std::sync::Arc;

use http::Extensions;
use mcp_adapters::mcp_wire::path::Segment;
use mcp_adapters::mcp_wire::{
    BatchElements, DecodeError, DecodeErrorKind, ErrorObject, Message, MessageHeader, MessageKind, RawJson, RequestId,
    error_code,
};
use mcp_adapters::peers::read_message;
use mcp_adapters::{Translated, session_messages};

use super::engine::Engine;
use super::ignored::not_a_message;
use super::negotiated::Negotiated;
use super::notifications::Notification;
use super::response::PendingResponse;
use super::state::is_converted;
use super::tolerance::only_result;
use crate::error::{CallError, invalid_params};
use crate::side::Side;

impl<S: Side> Engine<S> {
    /// Processes the elements of a batch, whose responses are sent as one array. A refused batch gets a single
    /// response.
    pub fn take_batch(
        self: &Arc<Self>,
        elements: BatchElements<'_>,
        json: &[u8],
        extensions: &Arc<Extensions>,
    ) -> Option<PendingResponse> {
        let limit = self.session.options.limits.batch;
        let refusal = if !self.session.negotiated().revision.facts().batches {
            Some("the revision has no batches".to_owned())
        } else if !elements.is_longer_than(0) {
            Some("an empty batch has no message".to_owned())
        } else if elements.is_longer_than(limit) {
            Some(format!("a batch may have {limit} messages at most"))
        } else if elements.clone().flatten().any(|header| self.is_stateless(&header)) {
            Some("a stateless message can't be part of a batch".to_owned())
        } else {
            None
        };
        if let Some(reason) = refusal {
            return self.refuse_batch(elements, json, reason);
        }
        let mut pending = Vec::new();
        for header in elements {
            match header {
                Ok(header) => pending.extend(self.take_message(&header, Arc::clone(extensions), true)),
                Err(error) => pending.extend(self.refuse(None, not_a_message(&error), json)),
            }
        }
        self.send_batch(pending);
        None
    }

    /// Refuses a batch with one response. The calls that it answers fail, because they must not wait forever.
    fn refuse_batch(&self, elements: BatchElements<'_>, json: &[u8], reason: String) -> Option<PendingResponse> {
        let mut requests = Vec::new();
        for header in elements.flatten() {
            let Some(id) = header.id() else { continue };
            match header.kind() {
                Ok(MessageKind::Request) => requests.push(id),
                Ok(MessageKind::Response | MessageKind::Error) => {
                    let error = CallError::InvalidResult(format!("it is in a batch: {reason}"));
                    self.session.pending.resolve(&id, Err(error), Vec::new());
                }
                _ => {}
            }
        }
        let error = ErrorObject::new(error_code::INVALID_REQUEST, reason);
        match requests.is_empty() {
            true => self.refuse(None, error, json),
            false => Some(PendingResponse::refused_together(requests, error)),
        }
    }

    /// Processes a message, and returns its response, if it has one.
    pub fn take_message(
        self: &Arc<Self>,
        header: &MessageHeader<'_>,
        extensions: Arc<Extensions>,
        in_batch: bool,
    ) -> Option<PendingResponse> {
        match self.terms_of(header) {
            Ok(negotiated) => self.take_negotiated(header, negotiated, extensions, in_batch),
            Err(error) => self.refuse_call(header, error),
        }
    }

    /// Processes a message by the terms negotiated for it.
    pub fn take_negotiated(
        self: &Arc<Self>,
        header: &MessageHeader<'_>,
        negotiated: Arc<Negotiated>,
        extensions: Arc<Extensions>,
        in_batch: bool,
    ) -> Option<PendingResponse> {
        let json = header.message().text().as_bytes();
        let (revision, method) = (negotiated.revision, header.method());
        if let Some(method) = &method {
            if let Err(error) = header.check_version() {
                return self.take_malformed(header, &error);
            }
            if let Some(taken) = self.take_internal(method, header, &negotiated, &extensions) {
                return taken;
            }
            self.session.warn_of_deprecated(revision, method);
        }
        if let Some(relay) = self.handler.relay(revision)
            && self.is_passed_on(header, revision)
        {
            return self.take_raw(relay, header, negotiated, extensions, in_batch);
        }
        // A response has no method, so it is converted only when its request is known.
        let received = match method.as_ref().is_some_and(|method| is_converted(revision, method)) {
            true => read_message(revision, S::PEER, header, negotiated.conversion()),
            false => S::receive_custom(header).map(|message| Translated::Message {
                message,
                losses: Vec::new(),
            }),
        };
        let message = match received {
            Ok(message) => message,
            Err(error) => return self.take_malformed(header, &error),
        };
        let check = |method: &str| {
            self.session.validate_call(revision, method, json)?;
            self.session.check_request_params(&negotiated, method, header)
        };
        let refusal = method.as_ref().and_then(|method| check(method).err());
        let (message, losses) = match message {
            Translated::Message { message, mut losses } => {
                losses.retain(|loss| !session_messages::is_in_request_meta(revision, loss));
                (message, losses)
            }
            Translated::Refused(response) => return self.refuse(response.id, response.error, json),
            Translated::Dropped { losses, reason } => {
                tracing::debug!(%reason, "a notification can't be represented");
                self.session.report_losses("", &losses);
                return None;
            }
        };
        match (message, refusal) {
            (Message::Request(call), Some(error)) => Some(PendingResponse::refused(Some(call.id), error)),
            (Message::Notification(_), Some(_)) => None,
            (Message::Request(call), None) => {
                self.session.report_losses(S::method(&call.request), &losses);
                let method = method.unwrap_or_default();
                Some(self.take_request(call, &method, header, negotiated, extensions, losses))
            }
            (Message::Notification(notice), None) => {
                if let Some(change) = S::change_in(&notice.notification) {
                    self.session.take_change(&change, header, &negotiated);
                }
                self.session
                    .report_losses(S::notification_method(&notice.notification), &losses);
                let notification = Notification {
                    notification: *notice.notification,
                    extensions,
                    losses,
                    negotiated,
                    ticket: self.session.unhandled.join(),
                };
                self.take_for_handler(notification, json);
                None
            }
            (Message::Response(response), _) => {
                self.take_response(&response.id, Ok(response.result));
                None
            }
            (Message::Error(response), _) => {
                match response.id {
                    Some(id) => self.take_response(&id, Err(CallError::Peer(response.error))),
                    // It can be about a notification, so no call fails for it.
                    None => self.ignored.log(&response.error, json),
                }
                None
            }
        }
    }

    /// Passes a result or error to the call that waits for it.
    fn take_response(&self, id: &RequestId, result: Result<RawJson, CallError>) {
        let error = result.as_ref().err().and_then(CallError::error_object);
        let code = error.map(|error| error.code);
        if !self.session.pending.resolve(id, result, Vec::new()) {
            tracing::debug!(%id, code, "a response matches no pending call");
        }
    }

    /// Refuses a message that can't be decoded, unless it is a notification.
    fn take_malformed(&self, header: &MessageHeader<'_>, error: &DecodeError) -> Option<PendingResponse> {
        tracing::debug!(%error, "a message is malformed");
        let json = header.message().text().as_bytes();
        match header.kind() {
            Ok(MessageKind::Request) => {
                let id = header.id();
                let path = error.path();
                let is_in_params = matches!(path.segments(), [Segment::Member(name), ..] if name == "params");
                let error = match error.kind() {
                    DecodeErrorKind::Syntax => not_a_message(error),
                    _ if id.is_some() && is_in_params => invalid_params(error),
                    _ => not_a_message(error),
                };
                self.refuse(id, error, json)
            }
            Ok(MessageKind::Notification) => None,
            Ok(MessageKind::Response | MessageKind::Error) | Err(_) => {
                let (result, violations) = match only_result(header) {
                    Some((result, violation)) => (result, vec![violation]),
                    None => {
                        let reason = format!("the peer's answer is malformed: {error}");
                        (Err(CallError::InvalidResult(reason)), Vec::new())
                    }
                };
                // The caller must not wait forever.
                let id = header.id();
                if id.is_some_and(|id| self.session.pending.resolve(&id, result, violations)) {
                    return None;
                }
                // The id can be that of a call of this side: the peer could mistake an error with this id for the
                // response to one of its own requests.
                self.refuse(None, not_a_message(error), json)
            }
        }
    }

    /// Returns the error response to a refused message; `None` if it must not have one.
    ///
    /// An error response needs the id of its request. Only some revisions have errors without an id, and only servers send
    /// them: a server that prints log lines to its output could print another one for each error that a client sends.
    pub fn refuse(&self, id: Option<RequestId>, error: ErrorObject, message: &[u8]) -> Option<PendingResponse> {
        let is_server = self.server.is_some();
        if id.is_none() && !(is_server && self.session.negotiated().revision.facts().errors_without_id) {
            self.ignored.log(&error, message);
            return None;
        }
        Some(PendingResponse::refused(id, error))
    }
}
