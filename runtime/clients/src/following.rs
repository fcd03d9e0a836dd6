//! Follows the changes of a server across successive sessions.

use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream;
use mcp_adapters::session_messages::ChangeFilter;
use mcp_runtime_core::internal::changes_in;
use mcp_runtime_core::transport::Connector;
use mcp_runtime_core::{CallError, Change, Changes, ConnectError};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::reconnecting::ReconnectingClient;

/// An event of a follower.
#[derive(Debug)]
pub enum Followed {
    /// The server notifies of a change.
    Change(Change),
    /// The subscription has ended.
    Lost,
    /// There is a subscription again. These changes may have been missed.
    Again(Vec<Change>),
    /// There is a subscription to these resources, which the previous filter didn't have. Changes between the request for
    /// them and now are missed.
    Begun(Vec<Change>),
    /// The attempt to subscribe has failed.
    Failed(ConnectError),
}

/// Follows the changes of a server: it subscribes again when a subscription ends, and when the filter changes.
pub struct Follower<C: Connector> {
    client: ReconnectingClient<C>,
    wanted: watch::Receiver<ChangeFilter>,
    /// How long subscribing can take before changes count as missed.
    patience: Duration,
    subscribed: Option<Subscribed>,
    /// Subscriptions that failed or ended since the last change.
    failures: u32,
    has_missed: bool,
}

struct Subscribed {
    filter: ChangeFilter,
    changes: Changes,
    since: Instant,
}

impl<C: Connector> ReconnectingClient<C> {
    /// Follows the changes of a filter, whose current value counts. While it is empty, there is no subscription.
    #[doc(hidden)]
    #[must_use]
    pub fn follow(&self, wanted: watch::Receiver<ChangeFilter>, patience: Duration) -> Follower<C> {
        Follower {
            client: self.clone(),
            wanted,
            patience,
            subscribed: None,
            failures: 0,
            has_missed: false,
        }
    }
}

impl<C: Connector> Follower<C> {
    /// Subscriptions that failed or ended since the last change.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Waits for the next event; `None` when the sender of the filter is gone.
    pub async fn next(&mut self) -> Option<Followed> {
        loop {
            if self.subscribed.is_none() && self.failures > 0 {
                // Pauses before the next attempt, in case the server ends every subscription at once.
                tokio::select! {
                    () = sleep(self.client.backoff().after(self.failures)) => {}
                    changed = self.wanted.changed() => changed.ok()?,
                }
            }
            let wanted = self.wanted.borrow_and_update().clone();
            if wanted == ChangeFilter::default() {
                self.subscribed = None;
                self.wanted.changed().await.ok()?;
                continue;
            }
            let Some(subscribed) = self.subscribed.as_mut().filter(|known| known.filter == wanted) else {
                match self.subscribe(wanted).await {
                    Some(followed) => return Some(followed),
                    None => continue,
                }
            };
            tokio::select! {
                change = next(&mut subscribed.changes) => return Some(self.take(change)),
                changed = self.wanted.changed() => changed.ok()?,
            }
        }
    }

    /// Subscribes with a filter. The new subscription begins before the old one ends, so that no change is missed.
    async fn subscribe(&mut self, filter: ChangeFilter) -> Option<Followed> {
        let begun = Instant::now();
        let changes = async { Ok::<_, ConnectError>(self.client.peer().await?.changes(filter.clone()).await?) };
        let changes = match changes.await {
            Ok(changes) => changes,
            Err(error) => {
                self.lose();
                return Some(Followed::Failed(error));
            }
        };
        let mut missed: Vec<Change> = changes_in(&changes.acknowledged()).collect();
        let since = Instant::now();
        let before = self.subscribed.replace(Subscribed { filter, changes, since });
        if std::mem::take(&mut self.has_missed) || since - begun > self.patience {
            return Some(Followed::Again(missed));
        }
        let known = before.map(|before| before.filter.resources).unwrap_or_default();
        missed.retain(|change| matches!(change, Change::Resource(uri) if !known.iter().any(|known| **known == **uri)));
        (!missed.is_empty()).then_some(Followed::Begun(missed))
    }

    fn take(&mut self, change: Option<Result<Change, CallError>>) -> Followed {
        match change {
            Some(Ok(change)) => {
                self.failures = 0;
                Followed::Change(change)
            }
            Some(Err(_)) | None => {
                self.lose();
                Followed::Lost
            }
        }
    }

    fn lose(&mut self) {
        let subscribed = self.subscribed.take();
        // A subscription that lasted this long resets the count of failures.
        if subscribed.is_some_and(|subscribed| subscribed.since.elapsed() >= self.client.backoff().at_most) {
            self.failures = 0;
        }
        self.failures = self.failures.saturating_add(1);
        self.has_missed = true;
    }
}

impl<C: Connector> std::fmt::Debug for Follower<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower")
            .field("failures", &self.failures)
            .finish_non_exhaustive()
    }
}

async fn next(changes: &mut Changes) -> Option<Result<Change, CallError>> {
    std::future::poll_fn(|context| Pin::new(&mut *changes).poll_next(context)).await
}
