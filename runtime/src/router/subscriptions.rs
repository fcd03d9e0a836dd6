//! The subscriptions of a client, its log level, and the notifications that it gets.

use std::collections::BTreeSet;
use std::sync::Arc;

use mcp_adapters::handlers::CallClient;
use mcp_adapters::hub::{self, LoggingLevel};
use mcp_adapters::mcp_wire::ErrorObject;
use tokio::sync::Notify;

use super::error::invalid;
use crate::error::CallError;
use crate::session::{Peer, severity};
use crate::side::ServerSide;
use crate::sync::Mutex;

/// The number of resources that a client may subscribe to.
const MAX_SUBSCRIPTIONS: usize = 10_000;
/// The bytes of their URIs together.
const MAX_SUBSCRIBED_BYTES: usize = 1024 * 1024;

/// A change that clients are notified of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    Tools,
    Resources,
    Prompts,
    /// The resource with this URI.
    Updated(Arc<str>),
}

/// The subscriptions of a client, its log level, and the changes that it has yet to be notified of.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    subscriptions: BTreeSet<Arc<str>>,
    /// The bytes of the URIs of the subscriptions.
    subscribed_bytes: usize,
    /// The least severe level, as an index into [`LEVELS`].
    level: usize,
    /// The changes to notify the client of, each once. Its size is bounded by the subscriptions, whose URIs it shares.
    pending: BTreeSet<Change>,
}

impl Subscriptions {
    /// Queues a change, if it is of a list or of a resource that the client has subscribed to.
    pub(super) fn push(&self, change: &Change) {
        let mut state = self.state.lock();
        let change = match change {
            Change::Updated(uri) => match state.subscriptions.get(uri) {
                Some(subscribed) => Change::Updated(Arc::clone(subscribed)),
                None => return,
            },
            change => change.clone(),
        };
        state.pending.insert(change);
        self.wake.notify_one();
    }

    pub(super) fn subscribe(&self, uri: String) -> Result<(), ErrorObject> {
        let mut state = self.state.lock();
        if state.subscriptions.contains(uri.as_str()) {
            return Ok(());
        }
        let bytes = state.subscribed_bytes + uri.len();
        if state.subscriptions.len() >= MAX_SUBSCRIPTIONS || bytes > MAX_SUBSCRIBED_BYTES {
            return Err(invalid(format!(
                "Too many subscriptions: a client may have {MAX_SUBSCRIPTIONS}, with URIs of {MAX_SUBSCRIBED_BYTES} bytes in all"
            )));
        }
        state.subscribed_bytes = bytes;
        state.subscriptions.insert(uri.into());
        Ok(())
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        let mut state = self.state.lock();
        if let Some(uri) = state.subscriptions.take(uri) {
            state.subscribed_bytes -= uri.len();
            state.pending.remove(&Change::Updated(uri));
        }
    }

    pub(super) fn set_level(&self, level: &LoggingLevel) -> Result<(), ErrorObject> {
        let severity = severity(level).ok_or_else(|| invalid(format!("unknown log level `{}`", level.as_str())))?;
        self.state.lock().level = severity;
        Ok(())
    }

    /// Whether the client wants log messages of a level. Unknown levels are always sent.
    pub(super) fn wants(&self, level: &LoggingLevel) -> bool {
        severity(level).is_none_or(|severity| severity >= self.state.lock().level)
    }
}

/// Notifies a client of changes until its session ends.
pub(super) async fn notify(peer: Peer<ServerSide>, subscriptions: Arc<Subscriptions>) {
    loop {
        tokio::select! {
            () = subscriptions.wake.notified() => {}
            () = peer.session_ended().cancelled() => return,
        }
        let pending = std::mem::take(&mut subscriptions.state.lock().pending);
        if peer.revision().is_none() {
            // Before the handshake, the client has no list that could have changed.
            continue;
        }
        for change in pending {
            if let Err(error) = notify_one(&peer, change).await {
                tracing::debug!(%error, "the client wasn't notified of a change");
            }
        }
    }
}

async fn notify_one(peer: &Peer<ServerSide>, change: Change) -> Result<(), CallError> {
    match change {
        Change::Tools => peer.notify_tool_list_changed(None).await,
        Change::Resources => peer.notify_resource_list_changed(None).await,
        Change::Prompts => peer.notify_prompt_list_changed(None).await,
        Change::Updated(uri) => {
            let params = hub::ResourceUpdatedNotificationParams::new(uri.as_ref());
            peer.notify_resource_updated(params).await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A URI of a number of bytes.
    fn uri(first: char, bytes: usize) -> String {
        format!("{first}{}", "x".repeat(bytes - 1))
    }

    #[test]
    fn subscriptions_are_bounded_in_bytes() {
        let subscriptions = Subscriptions::default();
        let half = MAX_SUBSCRIBED_BYTES / 2;
        subscriptions.subscribe(uri('a', half)).unwrap();
        subscriptions.subscribe(uri('b', half)).unwrap();
        // This isn't another one.
        subscriptions.subscribe(uri('b', half)).unwrap();
        let error = subscriptions.subscribe("c".to_owned()).unwrap_err();
        assert_eq!(
            error.message,
            "Too many subscriptions: a client may have 10000, with URIs of 1048576 bytes in all"
        );
        // What it never had makes no room.
        subscriptions.unsubscribe("c");
        assert!(subscriptions.subscribe("c".to_owned()).is_err());
        subscriptions.unsubscribe(&uri('a', half));
        subscriptions.subscribe(uri('c', half)).unwrap();
    }

    #[test]
    fn subscriptions_are_bounded_in_number() {
        let subscriptions = Subscriptions::default();
        for number in 0..MAX_SUBSCRIPTIONS {
            subscriptions.subscribe(number.to_string()).unwrap();
        }
        assert!(subscriptions.subscribe("another".to_owned()).is_err());
    }

    #[test]
    fn what_is_pending_is_no_more_than_the_subscriptions_and_shares_their_uris() {
        let subscriptions = Subscriptions::default();
        subscriptions.subscribe("a".to_owned()).unwrap();
        for uri in ["a", "a", "b"] {
            subscriptions.push(&Change::Updated(uri.into()));
        }
        let state = subscriptions.state.lock();
        let pending: Vec<_> = state.pending.iter().collect();
        let [Change::Updated(pending)] = pending.as_slice() else {
            panic!("not one update: {pending:?}");
        };
        assert!(Arc::ptr_eq(pending, state.subscriptions.first().unwrap()));
        drop(state);
        subscriptions.unsubscribe("a");
        assert!(subscriptions.state.lock().pending.is_empty());
    }
}
