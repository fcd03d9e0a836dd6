//! What becomes of a message: who gets it, and who is answered that it is none.

use std::sync::Arc;

use http::Extensions;
use mcp_adapters::mcp_wire::{
    Batch, DecodeError, DecodeErrorKind, ErrorObject, ErrorResponse, Message, RequestId, error_code,
};
use mcp_adapters::{Loss, Revision, Translated, hub};

use super::answer::{Pending, encode, report_unsent};
use super::engine::Engine;
use super::opening::Glimpse;
use crate::side::{Common, MessageIn, Side};
use crate::transport::Purpose;

/// What belongs to a message and isn't in it as the handler gets it.
struct Aside {
    token: Option<hub::ProgressToken>,
    /// What the transport knows about the message.
    extensions: Arc<Extensions>,
    /// Why nobody gets it, if it is too bad for that.
    refusal: Option<ErrorObject>,
}

impl<S: Side> Engine<S> {
    /// Takes what the peer sent: a message, or several where its revision has batches.
    pub(super) async fn take(self: &Arc<Self>, json: &[u8], extensions: Arc<Extensions>) {
        let glimpse = Glimpse::of(json);
        let revision = self.revision_of(&glimpse);
        match S::receive(revision, json) {
            Ok(Batch::One(message)) => {
                let aside = self.aside(revision, json, &glimpse, extensions);
                if let Some(answer) = self.take_message(message, aside).await {
                    answer.send(&self.shared, &self.tasks).await;
                }
            }
            Ok(Batch::Many(messages)) => {
                let asides = Glimpse::each(json)
                    .map(|(json, glimpse)| self.aside(revision, json, &glimpse, Arc::clone(&extensions)));
                self.take_batch(messages.into_iter().zip(asides).collect()).await;
            }
            Err(_) if serde_json::from_slice::<&serde_json::value::RawValue>(json).is_err() => {
                self.refuse(None, ErrorObject::new(error_code::PARSE_ERROR, "not JSON"))
                    .await;
            }
            Err(error) => self.take_malformed(&glimpse, &error).await,
        }
    }

    /// The revision that a message is read by: before one is negotiated, the one that it asks for itself.
    fn revision_of(&self, glimpse: &Glimpse<'_>) -> Revision {
        let requested = || glimpse.requested()?.parse::<Revision>().ok();
        self.shared
            .revision()
            .or_else(|| requested().filter(|revision| revision.facts().initializes))
            .unwrap_or_else(|| self.shared.spoken())
    }

    fn aside(&self, revision: Revision, json: &[u8], glimpse: &Glimpse<'_>, extensions: Arc<Extensions>) -> Aside {
        let refused = |method: &str| {
            self.shared.judge_call(revision, method, json)?;
            self.shared.may_be_asked_this(method, json)
        };
        Aside {
            token: glimpse.progress_token(),
            extensions,
            refusal: glimpse.method().and_then(|method| refused(&method).err()),
        }
    }

    /// Answers in one array what came in one array.
    async fn take_batch(self: &Arc<Self>, messages: Vec<(Translated<MessageIn<S>>, Aside)>) {
        let mut pending = Vec::new();
        for (message, aside) in messages {
            pending.extend(self.take_message(message, aside).await);
        }
        let is_ready = pending.iter().all(Pending::is_ready);
        let shared = Arc::clone(&self.shared);
        let sending = async move {
            let mut answers = Vec::new();
            let mut ids = Vec::new();
            let mut places = Vec::new();
            for answer in pending {
                let (id, json, place) = answer.finish().await;
                places.extend(place);
                if let Some(json) = json {
                    ids.extend(id);
                    answers.push(json);
                }
            }
            if !answers.is_empty() {
                let json = [b"[", answers.join(&b","[..]).as_slice(), b"]"].concat();
                report_unsent(shared.send(json, Purpose::Answer(ids)).await);
            }
        };
        if is_ready {
            sending.await;
        } else {
            self.tasks.spawn(sending);
        }
    }

    async fn take_message(self: &Arc<Self>, message: Translated<MessageIn<S>>, aside: Aside) -> Option<Pending> {
        let (message, losses) = match message {
            Translated::Message { message, losses } => (message, losses),
            Translated::Refused(response) => {
                return Some(Pending::ready(response.id.clone(), encode(&response)));
            }
            Translated::Dropped { losses, reason } => {
                tracing::debug!(%reason, "a notification can't be represented");
                self.shared.report("", &losses);
                return None;
            }
        };
        match (message, aside.refusal) {
            (Message::Request(call), Some(error)) => {
                let refused = ErrorResponse::new(Some(call.id.clone()), error);
                Some(Pending::ready(Some(call.id), encode(&refused)))
            }
            (Message::Notification(_), Some(_)) => None,
            (Message::Request(call), None) => {
                self.shared.report(S::method(&call.request), &losses);
                Some(self.take_request(call.id, call.request, aside.token, aside.extensions, losses))
            }
            (Message::Notification(notice), None) => {
                self.shared
                    .report(S::notification_method(&notice.notification), &losses);
                self.take_notification(notice.notification, aside.extensions, losses)
                    .await;
                None
            }
            (Message::Response(response), _) => {
                if !self.shared.answered(&response.id, Ok(response.result)) {
                    tracing::debug!(id = %response.id, "an answer to nothing");
                }
                None
            }
            (Message::Error(response), _) => {
                let known = response.id.as_ref();
                if !known.is_some_and(|id| self.shared.answered(id, Err(response.error.clone()))) {
                    tracing::debug!(code = response.error.code, "an error about nothing that was asked");
                }
                None
            }
        }
    }

    async fn take_notification(&self, notification: S::Notification, extensions: Arc<Extensions>, losses: Vec<Loss>) {
        match S::common(notification) {
            Common::Cancelled(params) => {
                let token = params.request_id.and_then(|id| self.handling().get(&id).cloned());
                if let Some(token) = token {
                    token.cancel();
                }
            }
            Common::Progress(params) => self.shared.progressed(params),
            Common::Other(notification) => {
                let heard = self.heard().clone();
                if let Some(heard) = heard {
                    // In order, and with backpressure. The receiver lives as long as the session.
                    let _ = heard.send((notification, extensions, losses)).await;
                }
            }
        }
    }

    /// Answers what is no message of the peer's revision.
    async fn take_malformed(&self, glimpse: &Glimpse<'_>, error: &DecodeError) {
        let id = glimpse.id();
        if let (Some(id), false) = (&id, glimpse.method().is_some()) {
            // A malformed answer: the call that waits for it must not wait for ever.
            let reason = ErrorObject::new(
                error_code::INVALID_REQUEST,
                format!("the peer's answer is malformed: {error}"),
            );
            if self.shared.answered(id, Err(reason)) {
                return;
            }
        }
        let code = match error.kind() {
            DecodeErrorKind::Syntax => error_code::PARSE_ERROR,
            _ if glimpse.method().is_some() && id.is_some() && error.path().segments().len() > 1 => {
                error_code::INVALID_PARAMS
            }
            _ => error_code::INVALID_REQUEST,
        };
        if glimpse.method().is_some() && !glimpse.has_id() && code != error_code::PARSE_ERROR {
            tracing::debug!(%error, "a notification is malformed");
            return;
        }
        self.refuse(id, ErrorObject::new(code, error.to_string())).await;
    }

    pub(super) async fn refuse(&self, id: Option<RequestId>, error: ErrorObject) {
        tracing::debug!(code = error.code, message = error.message, "refused");
        let ids = id.iter().cloned().collect();
        let json = encode(&ErrorResponse::new(id, error));
        report_unsent(self.shared.send(json, Purpose::Answer(ids)).await);
    }
}
