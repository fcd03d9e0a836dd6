//! The engine of a session: the receiving task, and its state.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Once};

use http::Extensions;
use mcp_adapters::mcp_wire::Payload;
use mcp_runtime_util::{Budget, Mutex, task};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::erased::DynReceiver;
use super::handler::Layered;
use super::ignored::{IgnoredMessages, not_a_message};
use super::immediate_handlers::ImmediateHandlers;
use super::notifications::{Notification, NotificationQueue, handle_in_order};
use super::response::{Outbox, PendingResponse};
use super::server::Server;
use super::state::SessionState;
use super::warning_limit::WarningLimit;
use crate::error::TransportError;
use crate::message::{Incoming, TakeDirectly};
use crate::side::Side;

/// The receiving part of a session. [`Engine::run`] is its task.
pub struct Engine<S: Side> {
    pub session: Arc<SessionState<S>>,
    pub handler: Layered<S>,
    /// `Some` only on the side of a server.
    pub server: Option<Arc<Server>>,
    /// One permit for each request whose handler runs.
    pub handling: Arc<Semaphore>,
    /// One permit for each request until its response is sent, so that a peer that doesn't read can't make responses pile up.
    pub unsent: Arc<Semaphore>,
    /// One permit for each request for changes, held until the subscription ends.
    pub listening: Arc<Semaphore>,
    /// The bytes of each request, until its response is sent.
    pub request_bytes: Arc<Budget>,
    /// The bytes of each response until it is sent.
    pub response_bytes: Arc<Budget>,
    /// The responses that are ready and will be sent together.
    pub outbox: Mutex<Outbox>,
    /// The record of which handlers need no separate task.
    pub immediate_handlers: ImmediateHandlers,
    pub tasks: TaskTracker,
    pub ignored: IgnoredMessages,
    /// The limit of warnings of notifications that aren't passed on.
    pub unpassed: WarningLimit,
    /// The limit of warnings of responses that the peer doesn't read.
    pub unread: WarningLimit,
    /// The notifications that wait for the handler. Closed when the session is closing.
    pub notifications: Arc<NotificationQueue<S>>,
    /// Starts the task that handles the notifications.
    pub notifier: Once,
}

impl<S: Side> Engine<S> {
    pub fn new(
        session: Arc<SessionState<S>>,
        handler: Layered<S>,
        server: Option<Arc<Server>>,
        notifications: Arc<NotificationQueue<S>>,
    ) -> Arc<Self> {
        let limits = &session.options.limits;
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits.clamp(1, Semaphore::MAX_PERMITS)));
        // Only results from a server contain requests.
        if !S::IS_SERVER {
            session.answer_by(&handler);
        }
        Arc::new(Self {
            handler,
            server,
            handling: semaphore(limits.in_flight),
            unsent: semaphore(limits.in_flight.saturating_add(limits.waiting)),
            listening: semaphore(limits.subscriptions),
            request_bytes: Budget::new(limits.request_bytes),
            response_bytes: Budget::new(limits.unread_bytes),
            outbox: Mutex::default(),
            immediate_handlers: ImmediateHandlers::default(),
            tasks: TaskTracker::new(),
            ignored: IgnoredMessages::default(),
            unpassed: WarningLimit::default(),
            unread: WarningLimit::default(),
            notifications,
            notifier: Once::new(),
            session,
        })
    }

    /// Receives until one of the sides ends the session. Dropping the future ends it too.
    pub async fn run(self: Arc<Self>, mut receiver: Box<dyn DynReceiver>, closing: CancellationToken) {
        let session = &self.session;
        let mut peer_sends = true;
        // Checking the tokens for each message costs less than waiting on them each time.
        let mut stopped = pin!(async {
            tokio::select! {
                () = closing.cancelled() => {}
                () = session.ended.cancelled() => {}
            }
        });
        let is_closing = loop {
            if closing.is_cancelled() {
                break true;
            }
            if session.ended.is_cancelled() {
                break false;
            }
            let received = tokio::select! {
                biased;
                received = self.receive(&mut *receiver) => received,
                () = &mut stopped => continue,
            };
            if matches!(received, Ok(None)) && receiver.half_closes() {
                // The peer sends nothing more, but can still read its responses.
                peer_sends = false;
                session.pending.clear();
                break true;
            }
            if !self.take(received) {
                break false;
            }
        };
        self.flush();
        self.tasks.close();
        self.notifications.close();
        if is_closing {
            if S::IS_SERVER {
                // Subscriptions would last until they are ended. Those of a client end with an error.
                session.subscriptions.end(&Ok(()));
            }
            // Requests in flight get their responses, unless they take too long.
            let responses = async {
                tokio::select! {
                    () = self.tasks.wait() => {}
                    // Handlers can be waiting for responses of the peer, which have to be received.
                    () = self.receive_while_closing(&mut *receiver), if peer_sends => {}
                }
            };
            if tokio::time::timeout(session.options.limits.close_timeout, responses)
                .await
                .is_err()
            {
                tracing::debug!("some handlers did not end in time");
            }
            self.flush();
            session.sender.close().await;
        }
    }

    /// Receives the responses that handlers wait for, until the peer ends the session.
    async fn receive_while_closing(self: &Arc<Self>, receiver: &mut dyn DynReceiver) {
        loop {
            let received = self.receive(receiver).await;
            if matches!(received, Ok(None)) && receiver.half_closes() {
                // The peer can still read its responses.
                self.session.pending.clear();
                return pending().await;
            }
            if !self.take(received) {
                return;
            }
        }
    }

    /// Receives the next message. Before it waits, it sends the responses that are ready, so the responses to messages
    /// that arrived together go out together.
    async fn receive(self: &Arc<Self>, receiver: &mut dyn DynReceiver) -> Result<Option<Incoming>, TransportError> {
        let mut receiving = receiver.receive();
        poll_fn(|context| {
            let received = receiving.as_mut().poll(context);
            if received.is_pending() {
                self.flush();
            }
            received
        })
        .await
    }

    /// Adds a notification to those that are handled in order. The first one starts the task that handles them.
    pub fn take_for_handler(&self, notification: Notification<S>, json: &[u8]) {
        self.notifications.push(notification, json);
        self.notifier.call_once(|| {
            self.tasks.spawn(task(handle_in_order(
                Arc::clone(&self.session),
                self.handler.clone(),
                Arc::clone(&self.notifications),
            )));
        });
    }

    /// Processes a received event; `false` if nothing more will be received.
    ///
    /// It never waits: a handler can need the next message, and a peer that doesn't read can be waiting for this side
    /// to read.
    fn take(self: &Arc<Self>, received: Result<Option<Incoming>, TransportError>) -> bool {
        match received {
            Ok(Some(incoming)) => {
                if let Some(response) = self.response_to(incoming) {
                    self.send_response(response, false);
                }
                true
            }
            Ok(None) => false,
            Err(error) => {
                tracing::debug!(%error, "the transport failed");
                self.session.failed(error);
                false
            }
        }
    }

    /// Processes a received event, and returns its response, if it has one.
    fn response_to(self: &Arc<Self>, incoming: Incoming) -> Option<PendingResponse> {
        match incoming {
            Incoming::Message { json, .. } if self.session.pending.resolve_in_place(&json) => None,
            Incoming::Message { json, extensions } => match Payload::from_slice(&json) {
                Ok(payload) => self.take_payload(&payload, extensions),
                Err(error) => self.take_unreadable(not_a_message(&error), &json),
            },
            Incoming::Refused { error, text } => self.take_unreadable(error, &text),
            Incoming::Failed { id, error } => {
                // The caller can have dropped the call.
                self.session.pending.resolve(&id, Err(error), Vec::new());
                None
            }
            Incoming::Renewed => {
                self.session
                    .in_flight
                    .lock()
                    .iter()
                    .for_each(|(_, token)| token.cancel());
                let session = Arc::clone(&self.session);
                self.tasks.spawn(task(async move {
                    session.restore().await;
                    session.renewed.notify_one();
                }));
                None
            }
            Incoming::Closing => {
                self.listening.close();
                self.session.subscriptions.end(&Ok(()));
                None
            }
        }
    }

    /// Processes a message or a batch, and returns its response, if it has one.
    fn take_payload(self: &Arc<Self>, payload: &Payload<'_>, extensions: Extensions) -> Option<PendingResponse> {
        let json = payload.text().as_bytes();
        match payload {
            Payload::Message(header) => self.take_message(header, extensions.into(), false),
            Payload::Batch(elements) => self.take_batch(elements.clone(), json, &extensions.into()),
        }
    }
}

impl<S: Side> TakeDirectly for Engine<S> {
    fn take_directly(self: Arc<Self>, payload: &Payload<'_>, extensions: Extensions) {
        let _span = self.session.span.enter();
        if let Some(response) = self.take_payload(payload, extensions) {
            self.send_response(response, true);
            self.flush();
        }
    }
}
