//! Notifications: those that wait, and the task in which the handler hears them in order.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::Extensions;
use mcp_adapters::Loss;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

use super::budget::{Budget, Charge};
use super::handler::Handler;
use super::shared::Shared;
use crate::context::Context;
use crate::options::Limits;
use crate::peer::Peer;
use crate::side::Side;

/// A notification that waits to be heard.
pub struct Heard<S: Side> {
    pub notification: S::Notification,
    /// What the transport knows about it.
    pub extensions: Arc<Extensions>,
    pub losses: Vec<Loss>,
}

/// The notifications that wait to be heard. Putting one there never waits.
pub struct Backlog<S: Side> {
    state: Mutex<State<S>>,
    changed: Notify,
    limit: usize,
    budget: Arc<Budget>,
    hasher: RandomState,
}

struct State<S: Side> {
    waiting: VecDeque<Waiting<S>>,
    closed: bool,
}

struct Waiting<S: Side> {
    heard: Heard<S>,
    /// Tells whether another is the same, without its text.
    hash: u64,
    _charge: Charge,
}

impl<S: Side> Backlog<S> {
    pub fn new(limits: &Limits) -> Arc<Self> {
        let (waiting, closed) = (VecDeque::new(), false);
        Arc::new(Self {
            state: Mutex::new(State { waiting, closed }),
            changed: Notify::new(),
            limit: limits.notifications.max(1),
            budget: Budget::new(limits.notification_bytes),
            hasher: RandomState::new(),
        })
    }

    /// Puts a notification, which came as `json`, behind those that wait. Where there is no room, it is dropped: one that
    /// is the same as one that waits says nothing new, and of any other `tracing` is told.
    pub fn push(&self, heard: Heard<S>, json: &[u8]) {
        let hash = self.hasher.hash_one(json);
        let mut state = self.state();
        if state.closed {
            return;
        }
        let has_room = state.waiting.len() < self.limit;
        match self.budget.try_charge(json.len()).filter(|_| has_room) {
            Some(_charge) => {
                state.waiting.push_back(Waiting { heard, hash, _charge });
                self.changed.notify_one();
            }
            None if state.waiting.iter().any(|waiting| waiting.hash == hash) => {}
            None => {
                let method = S::notification_method(&heard.notification);
                tracing::warn!(method, "a notification is dropped: too many wait to be heard");
            }
        }
    }

    /// Nothing more is put here.
    pub fn close(&self) {
        self.state().closed = true;
        self.changed.notify_one();
    }

    pub fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// The next notification; `None` once there is none and will be none.
    async fn next(&self) -> Option<Heard<S>> {
        loop {
            {
                let mut state = self.state();
                if let Some(waiting) = state.waiting.pop_front() {
                    return Some(waiting.heard);
                }
                if state.closed {
                    return None;
                }
            }
            self.changed.notified().await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State<S>> {
        // Nothing panics while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hears notifications one after the other, as they came.
pub async fn hear_in_order<S: Side>(shared: Arc<Shared<S>>, handler: Arc<dyn Handler<S>>, backlog: Arc<Backlog<S>>) {
    let ended = async {
        shared.ended.cancelled().await;
        tokio::time::sleep(shared.options.limits.closing).await;
    };
    let all = async {
        while let Some(Heard {
            notification,
            extensions,
            losses,
        }) = backlog.next().await
        {
            let context = Context {
                peer: Peer::new(Arc::clone(&shared), None),
                id: None,
                token: None,
                cancelled: shared.ended.clone(),
                extensions,
                losses,
            };
            let handler = Arc::clone(&handler);
            // A task of its own, so that a panic ends this one alone.
            let heard = tokio::spawn(async move { handler.hear(notification, &context).await });
            if let Err(error) = AbortOnDropHandle::new(heard).await {
                tracing::error!(%error, "a handler failed");
            }
        }
    };
    tokio::select! {
        biased;
        () = all => {}
        // What was told before the end is heard, unless it takes too long.
        () = ended => tracing::debug!("some notifications weren't heard in time"),
    }
}
