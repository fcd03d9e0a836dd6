//! What becomes of a message: who gets it, and who is answered that it is none.

use std::sync::Arc;

use http::Extensions;
use mcp_adapters::mcp_wire::{
    BatchElements, DecodeError, DecodeErrorKind, ErrorObject, Message, MessageHeader, MessageKind, Payload, RequestId,
    error_code,
};
use mcp_adapters::{Revision, Translated};

use super::answer::Pending;
use super::engine::Engine;
use super::hearing::Heard;
use super::shared::is_custom;
use super::tolerance::only_outcome;
use crate::error::CallError;
use crate::side::{Common, Side};

impl<S: Side> Engine<S> {
    /// Takes what the peer sent: a message, or several where its revision has batches.
    pub(super) fn take(self: &Arc<Self>, json: &[u8], extensions: Arc<Extensions>) {
        let answer = match Payload::from_slice(json) {
            Ok(Payload::Message(header)) => self.take_message(&header, extensions),
            Ok(Payload::Batch(elements)) => self.take_batch(elements, json, &extensions),
            Err(error) => self.refusal(None, not_a_message(&error), json),
        };
        if let Some(answer) = answer {
            self.send_answers(vec![answer], false);
        }
    }

    /// The revision that a message is read by: before one is negotiated, the one that it asks for itself.
    fn revision_of(&self, header: &MessageHeader<'_>) -> Revision {
        let requested = || {
            let requested = header.param(&["protocolVersion"]).ok()??;
            let requested: Revision = requested.string().ok()?.parse().ok()?;
            requested.facts().initializes.then_some(requested)
        };
        let negotiated = self.shared.revision();
        negotiated.or_else(requested).unwrap_or_else(|| self.shared.spoken())
    }

    /// Takes each element of a batch, and answers in one array; a batch that can't be taken has one answer.
    fn take_batch(
        self: &Arc<Self>,
        elements: BatchElements<'_>,
        json: &[u8],
        extensions: &Arc<Extensions>,
    ) -> Option<Pending> {
        let limit = self.shared.options.limits.batch;
        let refusal = if !self.shared.spoken().facts().batches {
            Some("the revision has no batches".to_owned())
        } else if !elements.is_longer_than(0) {
            Some("an empty batch has no message".to_owned())
        } else if elements.is_longer_than(limit) {
            Some(format!("a batch may have {limit} messages at most"))
        } else {
            None
        };
        if let Some(why) = refusal {
            let requests = elements
                .flatten()
                .filter(|header| header.kind() == Ok(MessageKind::Request));
            let ids: Vec<_> = requests.filter_map(|header| header.id()).collect();
            let error = ErrorObject::new(error_code::INVALID_REQUEST, why);
            return match ids.is_empty() {
                true => self.refusal(None, error, json),
                false => Some(Pending::refused_together(ids, error)),
            };
        }
        let mut pending = Vec::new();
        for header in elements {
            match header {
                Ok(header) => pending.extend(self.take_message(&header, Arc::clone(extensions))),
                Err(error) => pending.extend(self.refusal(None, not_a_message(&error), json)),
            }
        }
        self.send_answers(pending, true);
        None
    }

    fn take_message(self: &Arc<Self>, header: &MessageHeader<'_>, extensions: Arc<Extensions>) -> Option<Pending> {
        let revision = self.revision_of(header);
        let json = header.message().text().as_bytes();
        let is_custom = header.method().is_some_and(|method| is_custom(revision, &method));
        let received = match is_custom {
            true => S::receive_custom(json).map(|message| Translated::Message {
                message,
                losses: Vec::new(),
            }),
            false => S::receive(revision, json),
        };
        let message = match received {
            Ok(message) => message,
            Err(error) => return self.take_malformed(header, &error),
        };
        let refused = |method: &str| {
            self.shared.judge_call(revision, method, json)?;
            self.shared.may_be_asked_this(method, header)
        };
        let refusal = header.method().and_then(|method| refused(&method).err());
        let (message, losses) = match message {
            Translated::Message { message, losses } => (message, losses),
            Translated::Refused(response) => return self.refusal(response.id, response.error, json),
            Translated::Dropped { losses, reason } => {
                tracing::debug!(%reason, "a notification can't be represented");
                self.shared.report("", &losses);
                return None;
            }
        };
        match (message, refusal) {
            (Message::Request(call), Some(error)) => Some(Pending::refused(Some(call.id), error)),
            (Message::Notification(_), Some(_)) => None,
            (Message::Request(call), None) => {
                self.shared.report(S::method(&call.request), &losses);
                Some(self.take_request(call, header, extensions, losses))
            }
            (Message::Notification(notice), None) => {
                self.shared
                    .report(S::notification_method(&notice.notification), &losses);
                let heard = Heard {
                    notification: notice.notification,
                    extensions,
                    losses,
                };
                self.take_notification(heard, json);
                None
            }
            (Message::Response(response), _) => {
                if !self.shared.answered(&response.id, Ok(response.result), Vec::new()) {
                    tracing::debug!(id = %response.id, "an answer to nothing");
                }
                None
            }
            (Message::Error(response), _) => {
                let outcome = || Err(CallError::Peer(response.error.clone()));
                let known = response.id.as_ref();
                if !known.is_some_and(|id| self.shared.answered(id, outcome(), Vec::new())) {
                    tracing::debug!(code = response.error.code, "an error about nothing that was asked");
                }
                None
            }
        }
    }

    fn take_notification(&self, heard: Heard<S>, json: &[u8]) {
        match S::common(heard.notification) {
            Common::Cancelled(params) => {
                let token = params.request_id.and_then(|id| self.handling().get(&id).cloned());
                if let Some(token) = token {
                    token.cancel();
                }
            }
            Common::Progress(params) => self.shared.progressed(params),
            Common::Other(notification) => self.backlog.push(Heard { notification, ..heard }, json),
        }
    }

    /// Answers what is no message of the peer's revision, unless it is a notification.
    fn take_malformed(&self, header: &MessageHeader<'_>, error: &DecodeError) -> Option<Pending> {
        tracing::debug!(%error, "a message is malformed");
        let json = header.message().text().as_bytes();
        match header.kind() {
            Ok(MessageKind::Request) => {
                let id = header.id();
                let is_in_params = id.is_some() && error.path().segments().len() > 1;
                let error = match error.kind() {
                    DecodeErrorKind::Syntax => not_a_message(error),
                    _ if is_in_params => ErrorObject::new(error_code::INVALID_PARAMS, error.to_string()),
                    _ => not_a_message(error),
                };
                self.refusal(id, error, json)
            }
            Ok(MessageKind::Notification) => None,
            Ok(MessageKind::Response | MessageKind::Error) | Err(_) => {
                let (outcome, faults) = match only_outcome(header) {
                    Some((outcome, fault)) => (outcome, vec![fault]),
                    None => {
                        let why = format!("the peer's answer is malformed: {error}");
                        (Err(CallError::InvalidResult(why)), Vec::new())
                    }
                };
                // The call that waits for it must not wait for ever.
                let id = header.id();
                if id.is_some_and(|id| self.shared.answered(&id, outcome, faults)) {
                    return None;
                }
                // The id may be one of ours: an error with it would be taken for the answer to another request.
                self.refusal(None, not_a_message(error), json)
            }
        }
    }

    /// The error that answers a message which can't be taken; `None` if nothing may answer it.
    ///
    /// An error needs the id of the request that it answers. Without one it is a message in some revisions only, and for
    /// clients only: a client that answered what its server prints by mistake could get the next such line for it.
    pub(super) fn refusal(&self, id: Option<RequestId>, error: ErrorObject, message: &[u8]) -> Option<Pending> {
        let is_server = self.welcome.is_some();
        if id.is_none() && !(is_server && self.shared.spoken().facts().errors_without_id) {
            self.strays.report(&error, message);
            return None;
        }
        Some(Pending::refused(id, error))
    }
}

/// The error for what is no message.
fn not_a_message(error: &DecodeError) -> ErrorObject {
    let code = match error.kind() {
        DecodeErrorKind::Syntax => error_code::PARSE_ERROR,
        _ => error_code::INVALID_REQUEST,
    };
    ErrorObject::new(code, error.to_string())
}
