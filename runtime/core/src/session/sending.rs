//! Sending of responses to the peer.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mcp_adapters::mcp_wire::{ErrorObject, RequestId};
use mcp_adapters::{Policy, Revision, translate_error};
use mcp_runtime_util::{BoxFuture, Charge, Instant, catch_panic, task};
use tokio::task::unconstrained;

use super::engine::Engine;
use super::immediate_handlers::HandlerKey;
use super::negotiated::Negotiated;
use super::response::{Body, Outbox, PendingResponse, RequestPermit, Response, serialization_failed};
use super::state::SessionState;
use crate::error::{CallError, TransportError};
use crate::message::{Outgoing, Purpose};
use crate::side::Side;

/// The number of responses, and of their bytes, at which gathered responses are sent without waiting for more.
const GATHERED: (usize, usize) = (64, 64 * 1024);

impl<S: Side> Engine<S> {
    /// Sends a response when it is ready: together with others, by the next [`Self::flush`], or from a task that waits for
    /// it.
    ///
    /// This never waits, so a peer that doesn't read its responses can still send. The unread responses are bounded in
    /// bytes. The handler is first polled without a task if it has been prompt, or if nothing else is received
    /// meanwhile (`is_alone`).
    pub fn send_response(self: &Arc<Self>, response: PendingResponse, is_alone: bool) {
        let PendingResponse { ids, body } = response;
        match body {
            Body::Ready(json) => match self.response_bytes.try_charge(json.len()) {
                Some(charge) => self.gather(json, ids, (charge, None)),
                None => {
                    self.warn_of_unread();
                    self.session.sender.unanswered(&ids);
                }
            },
            Body::Running(mut response, Some(handler)) if is_alone || self.immediate_handlers.is_immediate(handler) => {
                // A handler that runs alone delays no other message, so its time isn't recorded.
                let started = (!is_alone).then(Instant::now);
                let polled = poll_now(&mut response);
                if let Some(started) = started {
                    self.immediate_handlers
                        .ran(handler, started.elapsed(), polled.is_ready());
                }
                let Poll::Ready(made) = polled else {
                    return self.spawn_response(ids, response, None);
                };
                match made.unwrap_or_else(serialization_failed) {
                    (Some(json), permit) => {
                        // This can exceed the budget, but a handler starts only while the budget isn't exhausted.
                        let charge = self.response_bytes.charge(json.len());
                        self.gather(json, ids, (charge, permit));
                    }
                    (None, _) => self.session.sender.unanswered(&ids),
                }
            }
            Body::Running(response, handler) => self.spawn_response(ids, response, handler),
        }
    }

    fn warn_of_unread(&self) {
        if let Some(suppressed) = self.unread.suppressed() {
            tracing::warn!(suppressed, "the peer doesn't read its responses; one is dropped");
        }
    }

    /// Spawns the task that waits for a response and sends it.
    fn spawn_response(
        self: &Arc<Self>,
        ids: Vec<RequestId>,
        mut response: BoxFuture<'static, Response>,
        handler: Option<HandlerKey>,
    ) {
        let engine = Arc::clone(self);
        self.tasks.spawn(task(async move {
            let started = Instant::now();
            let mut first = None;
            let polled = std::future::poll_fn(|context| {
                let polled = response.as_mut().poll(context);
                first.get_or_insert_with(|| (started.elapsed(), polled.is_ready()));
                polled
            });
            let (json, permit) = catch_panic(polled).await.unwrap_or_else(serialization_failed);
            if let (Some(handler), Some((time, has_answered))) = (handler, first) {
                engine.immediate_handlers.ran(handler, time, has_answered);
            }
            let Some(json) = json else {
                engine.session.sender.unanswered(&ids);
                return;
            };
            // This can exceed the budget, but a handler starts only while the budget isn't exhausted.
            let charged = engine.response_bytes.charge(json.len());
            logged(engine.session.send(json, Purpose::Response(ids)).await);
            drop((charged, permit));
        }));
    }

    /// Adds a response to those that are sent together by [`Self::flush`].
    fn gather(self: &Arc<Self>, json: Vec<u8>, ids: Vec<RequestId>, held: (Charge, Option<RequestPermit>)) {
        let mut outbox = self.outbox.lock();
        outbox.bytes += json.len();
        outbox.messages.push(Outgoing {
            json,
            purpose: Purpose::Response(ids),
        });
        outbox.held.push(held);
        let is_full = outbox.messages.len() >= GATHERED.0 || outbox.bytes >= GATHERED.1;
        drop(outbox);
        if is_full {
            self.flush();
        }
    }

    /// Sends the responses that are ready, if there are any.
    pub fn flush(self: &Arc<Self>) {
        let Outbox { messages, held, .. } = {
            let mut outbox = self.outbox.lock();
            if outbox.messages.is_empty() {
                return;
            }
            if self.session.sender.try_send_all(&mut outbox.messages) {
                outbox.bytes = 0;
                outbox.held.clear();
                return;
            }
            std::mem::take(&mut *outbox)
        };
        let session = Arc::clone(&self.session);
        let sending = async move {
            logged(tokio::select! {
                biased;
                sent = session.sender.send_all(messages) => sent,
                // The block costs nothing until it is polled.
                () = async { session.ended.cancelled().await } => Err(TransportError::Closed),
            });
            drop(held);
        };
        // Unconstrained, because the handlers can have used up the task's budget (tokio's cooperative scheduling),
        // which would make this poll pending although the peer reads.
        let mut sending = task(unconstrained(sending));
        // If the peer reads, no task is needed.
        if poll_now(&mut sending).is_pending() {
            self.tasks.spawn(sending);
        }
    }

    /// Sends the responses to a batch when they are ready, in one array.
    pub fn send_batch(&self, pending: Vec<PendingResponse>) {
        let ready = pending.iter().filter_map(PendingResponse::ready_bytes);
        let (count, bytes) = ready.fold((0, 0), |(count, bytes), more| (count + 1, bytes + more));
        let charge = match count == pending.len() {
            true => self.response_bytes.try_charge(bytes),
            // This can exceed the budget, but a handler starts only while the budget isn't exhausted.
            false => Some(self.response_bytes.charge(bytes)),
        };
        let Some(charge) = charge else {
            self.warn_of_unread();
            let ids: Vec<RequestId> = pending.into_iter().flat_map(|pending| pending.ids).collect();
            self.session.sender.unanswered(&ids);
            return;
        };
        // The requests of a batch are handled concurrently.
        let pending: Vec<_> = pending
            .into_iter()
            .map(|response| response.spawned(&self.tasks))
            .collect();
        let (session, budget) = (Arc::clone(&self.session), Arc::clone(&self.response_bytes));
        self.tasks.spawn(task(async move {
            let (mut responses, mut ids, mut unanswered, mut permits) =
                (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for mut response in pending {
                let answered = std::mem::take(&mut response.ids);
                let (json, permit) = response.made().await;
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
            session.sender.unanswered(&unanswered);
            if !responses.is_empty() {
                let json = [b"[", responses.join(&b","[..]).as_slice(), b"]"].concat();
                drop(responses);
                logged(session.send(json, Purpose::Response(ids)).await);
            }
            drop((charge, permits));
        }));
    }
}

fn logged(sent: Result<(), TransportError>) {
    if let Err(error) = sent {
        tracing::debug!(%error, "a response wasn't sent");
    }
}

/// Polls a future once without a waker, and returns its output or the message of its panic. If it is pending, a task
/// must poll it again.
fn poll_now<T>(future: &mut BoxFuture<'static, T>) -> Poll<Result<T, String>> {
    let mut future = pin!(catch_panic(future));
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

impl<S: Side> SessionState<S> {
    /// Converts the error of a handler to the peer's revision.
    pub fn error_for_peer(&self, negotiated: &Negotiated, method: &str, error: ErrorObject) -> ErrorObject {
        self.translated_error(Revision::HUB, negotiated.revision, method, error)
    }

    /// Converts the error of the call `id` to the hub. An error response to the call counts as the peer's error
    /// regardless of its HTTP status.
    pub fn error_from_peer(&self, negotiated: &Negotiated, method: &str, id: i64, error: CallError) -> CallError {
        let translated = |error| self.translated_error(negotiated.revision, Revision::HUB, method, error);
        match error {
            CallError::Peer(error) => CallError::Peer(translated(error)),
            CallError::Http(mut failure) => match failure.response.take() {
                Some(response) if response.id == Some(RequestId::Integer(id)) && failure.challenges.is_empty() => {
                    CallError::Peer(translated(response.error))
                }
                Some(mut response) => {
                    response.error = translated(response.error);
                    failure.response = Some(response);
                    CallError::Http(failure)
                }
                None => CallError::Http(failure),
            },
            error => error,
        }
    }

    fn translated_error(&self, from: Revision, to: Revision, method: &str, error: ErrorObject) -> ErrorObject {
        let (error, losses) = translate_error(from, to, Some(method), error, Policy::Conform);
        self.report_losses(method, &losses);
        error
    }
}
