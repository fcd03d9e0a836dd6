//! The queue of the peer's notifications, and the task that handles them in order.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use http::Extensions;
use mcp_adapters::Loss;
use tokio::sync::Notify;
use tracing::Instrument;

use super::context::{Context, Envelope};
use super::middleware::Layered;
use super::negotiated::Negotiated;
use super::ordered_queue::Ticket;
use super::peer::Peer;
use super::spans::notification_span;
use super::state::SessionState;
use crate::budget::{Budget, Charge};
use crate::future::catch_panic;
use crate::options::Limits;
use crate::side::Side;
use crate::sync::Mutex;

/// A notification of the peer.
pub struct Notification<S: Side> {
    pub notification: S::Notification,
    /// What the transport adds to it.
    pub extensions: Arc<Extensions>,
    pub losses: Vec<Loss>,
    pub negotiated: Arc<Negotiated>,
    /// Its position among those that aren't handled yet.
    pub ticket: Ticket,
}

/// The notifications that wait for the handler. Adding one never waits.
pub struct NotificationQueue<S: Side> {
    state: Mutex<State<S>>,
    changed: Notify,
    limit: usize,
    budget: Arc<Budget>,
    hasher: RandomState,
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
        })
    }

    /// Adds a notification, which came as `json`. If there is no room, it is dropped: silently if an equal one is in the
    /// queue, and with a warning otherwise.
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
                let method = S::notification_method(&notification.notification);
                tracing::warn!(method, "a notification is dropped: the queue is full");
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

    /// The next notification; `None` when the queue is closed and empty.
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

/// Handles notifications one after the other, in the order in which they came.
pub async fn handle_in_order<S: Side>(
    session: Arc<SessionState<S>>,
    handler: Layered<S>,
    queue: Arc<NotificationQueue<S>>,
) {
    let ended = async {
        session.ended.cancelled().await;
        tokio::time::sleep(session.options.limits.closing).await;
    };
    let all = async {
        while let Some(Notification {
            notification,
            extensions,
            losses,
            negotiated,
            ticket,
        }) = queue.next().await
        {
            let method = S::notification_method(&notification);
            let span = notification_span(&session.span, method, negotiated.revision);
            let context = Context {
                peer: Peer::of_message(Arc::clone(&session), None, negotiated),
                cancelled: session.ended.clone(),
                message: Arc::new(Envelope {
                    extensions,
                    losses,
                    ..Envelope::default()
                }),
            };
            if let Err(panic) = catch_panic(handler.handle_notification(notification, &context))
                .instrument(span)
                .await
            {
                tracing::error!(panic, "a handler failed");
            }
            drop(ticket);
        }
    };
    tokio::select! {
        biased;
        () = all => {}
        // Notifications that came before the end are handled, unless that takes too long.
        () = ended => tracing::debug!("some notifications weren't handled in time"),
    }
}
