//! Notifications from the peer, which wait for the handler, and notifications to the peer.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::Extensions;
use mcp_adapters::mcp_wire::{Message, Notice, Object, RequestId};
use mcp_adapters::{Loss, Translated};
use mcp_runtime_util::{Budget, Charge, Mutex, catch_panic};
use tokio::sync::Notify;
use tracing::Instrument;

use super::context::{Context, Envelope, Peer};
use super::handler::Layered;
use super::negotiated::{Negotiated, severity};
use super::ordered_queue::Ticket;
use super::state::{SessionState, is_custom, notification_span};
use super::warning_limit::WarningLimit;
use crate::error::CallError;
use crate::message::{Purpose, to_json};
use crate::options::Limits;
use crate::side::{MessageOut, Side};

/// A notification of the peer.
pub struct Notification<S: Side> {
    pub notification: S::Notification,
    /// The values that the transport has added to it.
    pub extensions: Arc<Extensions>,
    pub losses: Vec<Loss>,
    pub negotiated: Arc<Negotiated>,
    /// Its position among the unhandled notifications.
    pub ticket: Ticket,
}

impl<S: Side> Notification<S> {
    /// Calls the handler of a session.
    pub async fn handle(self, session: &Arc<SessionState<S>>, handler: &Layered<S>) {
        let method = S::notification_method(&self.notification);
        let span = notification_span(&session.span, method, self.negotiated.revision);
        let context = Context {
            peer: Peer::of_message(Arc::clone(session), None, self.negotiated),
            message: Arc::new(Envelope {
                cancelled: session.ended.clone(),
                token: None,
                meta: None,
                extensions: self.extensions,
                losses: self.losses,
                original_params: None,
            }),
        };
        let handled = catch_panic(handler.handle_notification(self.notification, &context));
        if let Err(panic) = handled.instrument(span).await {
            tracing::error!(panic, "a handler failed");
        }
        drop(self.ticket);
    }
}

/// The notifications that wait for the handler. Adding one never waits.
pub struct NotificationQueue<S: Side> {
    state: Mutex<State<S>>,
    changed: Notify,
    limit: usize,
    budget: Arc<Budget>,
    hasher: RandomState,
    dropped: WarningLimit,
}

struct State<S: Side> {
    entries: VecDeque<Entry<S>>,
    closed: bool,
}

struct Entry<S: Side> {
    notification: Notification<S>,
    /// Identifies equal notifications without keeping their text.
    hash: u64,
    _charge: Charge,
}

impl<S: Side> NotificationQueue<S> {
    pub fn new(limits: &Limits) -> Arc<Self> {
        let (entries, closed) = (VecDeque::new(), false);
        Arc::new(Self {
            state: Mutex::new(State { entries, closed }),
            changed: Notify::new(),
            limit: limits.notifications.max(1),
            budget: Budget::new(limits.notification_bytes),
            hasher: RandomState::new(),
            dropped: WarningLimit::default(),
        })
    }

    /// Adds a notification, which was received as `json`. If the queue is full, it is dropped: silently if an equal one
    /// is in the queue, and with a warning otherwise.
    pub fn push(&self, notification: Notification<S>, json: &[u8]) {
        let hash = self.hasher.hash_one(json);
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        let has_room = state.entries.len() < self.limit;
        match self.budget.try_charge(json.len()).filter(|_| has_room) {
            Some(_charge) => {
                state.entries.push_back(Entry {
                    notification,
                    hash,
                    _charge,
                });
                self.changed.notify_one();
            }
            None if state.entries.iter().any(|entry| entry.hash == hash) => {}
            None => {
                if let Some(suppressed) = self.dropped.suppressed() {
                    let method = S::notification_method(&notification.notification);
                    tracing::warn!(method, suppressed, "a notification is dropped: the queue is full");
                }
            }
        }
    }

    /// Accepts no more notifications.
    pub fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_one();
    }

    pub fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    /// Takes the next notification without waiting.
    pub fn take(&self) -> Option<Notification<S>> {
        self.state.lock().entries.pop_front().map(|entry| entry.notification)
    }

    /// Waits for the next notification; `None` when the queue is closed and empty.
    async fn next(&self) -> Option<Notification<S>> {
        loop {
            {
                let mut state = self.state.lock();
                if let Some(entry) = state.entries.pop_front() {
                    return Some(entry.notification);
                }
                if state.closed {
                    return None;
                }
            }
            self.changed.notified().await;
        }
    }
}

/// Handles notifications one after the other, in the order in which they arrived.
pub async fn handle_in_order<S: Side>(
    session: Arc<SessionState<S>>,
    handler: Layered<S>,
    queue: Arc<NotificationQueue<S>>,
) {
    let ended = async {
        session.ended.cancelled().await;
        tokio::time::sleep(session.options.limits.close_timeout).await;
    };
    let all = async {
        while let Some(notification) = queue.next().await {
            notification.handle(&session, &handler).await;
        }
    };
    tokio::select! {
        biased;
        () = all => {}
        // Notifications that arrived before the end are still handled, unless that takes too long.
        () = ended => tracing::debug!("some notifications weren't handled in time"),
    }
}

impl<S: Side> SessionState<S> {
    /// Sends a notification.
    pub async fn notify(
        &self,
        negotiated: &Negotiated,
        notification: S::NotificationOut,
        purpose: Purpose,
    ) -> Result<(), CallError> {
        let method = negotiated.method(S::notification_method_out(&notification)).to_owned();
        self.check_notification(negotiated, &method)?;
        if let Some(change) = S::change_of(&notification) {
            let is_heard = self.subscriptions.publish(&change) || !self.sender.ends_with_response();
            return is_heard.then_some(()).ok_or(CallError::NotListening(method));
        }
        if !self.is_wanted(negotiated, &notification, &purpose) {
            return Ok(());
        }
        match self.encode(negotiated, &method, Message::Notification(Notice { notification }))? {
            Some(json) => self.send(json, purpose).await.map_err(|error| self.send_error(error)),
            None => Ok(()),
        }
    }

    /// Whether the client wants a notification. A log message must be severe enough for the stateless request or the
    /// session. A notification that is unrelated to a request, or whose request has been answered, is only sent in a
    /// session with a handshake.
    fn is_wanted(&self, negotiated: &Negotiated, notification: &S::NotificationOut, purpose: &Purpose) -> bool {
        let is_alone = S::IS_SERVER && negotiated.is_stateless();
        let is_late = || match purpose {
            Purpose::RelatedTo(id) => !self.is_in_flight(id),
            _ => *purpose == Purpose::Unsolicited,
        };
        if is_alone && is_late() {
            return false;
        }
        let Some(level) = S::log_level(notification) else {
            return true;
        };
        let least = match is_alone {
            true => negotiated.log_severity,
            false => Some(self.log_severity.load(Ordering::Relaxed)),
        };
        // A message of an unknown level is sent only in a session with a handshake, where a client can only exclude
        // known levels.
        least.is_some_and(|least| severity(level).map_or(!is_alone, |severity| severity >= least))
    }

    /// Whether a request of the peer is being handled.
    fn is_in_flight(&self, id: &RequestId) -> bool {
        let in_flight = self.in_flight.lock();
        in_flight.binary_search_by(|(known, _)| known.cmp(id)).is_ok()
    }

    /// Sends a notification that the hub doesn't declare.
    pub async fn notify_custom(
        &self,
        method: &str,
        notification: impl Object,
        purpose: Purpose,
    ) -> Result<(), CallError> {
        check_custom(method)?;
        self.notify_json(notification, purpose).await
    }

    /// Sends a notification that isn't converted.
    pub async fn notify_json(&self, notification: impl Object, purpose: Purpose) -> Result<(), CallError> {
        let json = to_json(&Notice { notification });
        Ok(self.send(json, purpose).await?)
    }

    /// Encodes a message in the peer's revision; `None` for a notification that the revision can't represent.
    pub fn encode(
        &self,
        negotiated: &Negotiated,
        method: &str,
        message: MessageOut<S>,
    ) -> Result<Option<Vec<u8>>, CallError> {
        let revision = negotiated.revision;
        self.warn_of_deprecated(revision, method);
        let conversion = match message {
            Message::Request(_) if S::IS_SERVER => negotiated.conversion_of_question()?,
            _ => negotiated.conversion(),
        };
        match S::encode(revision, message, conversion) {
            Translated::Message { message, losses } => {
                self.report_losses(method, &losses);
                Ok(Some(message))
            }
            Translated::Refused(refused) => {
                // A conversion over several revisions names the one where it stops, but callers need the peer's
                // revision.
                let reason = match revision.method(method) {
                    None => format!("revision {revision} has no method {method}"),
                    Some(_) => refused.error.message,
                };
                Err(CallError::Unrepresentable(reason))
            }
            Translated::Dropped { losses, reason } => {
                tracing::debug!(method, %reason, "the peer's revision can't represent the notification");
                self.report_losses(method, &losses);
                Ok(None)
            }
        }
    }
}

/// Refuses methods that the hub declares: they need conversions and capability checks.
pub fn check_custom(method: &str) -> Result<(), CallError> {
    if is_custom(method) {
        return Ok(());
    }
    let reason = format!("{method} is a method of the protocol, and not a custom one");
    Err(CallError::Unrepresentable(reason))
}
