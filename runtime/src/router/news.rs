//! What a client is told without having asked: that lists and resources have changed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_adapters::handlers::CallClient;
use mcp_adapters::hub::{self, LoggingLevel};
use mcp_adapters::mcp_wire::ErrorObject;
use tokio::sync::Notify;

use super::invalid;
use crate::error::CallError;
use crate::peer::Peer;
use crate::side::ServerSide;

/// How many resources a client may subscribe to.
const MAX_SUBSCRIPTIONS: usize = 10_000;

/// From the least severe on.
const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

/// Something that has changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum News {
    Tools,
    Resources,
    Prompts,
    /// The resource of this address.
    Updated(String),
}

/// What one client wants to be told, and what it is still to be told.
#[derive(Debug, Default)]
pub(super) struct Told {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    subscriptions: BTreeSet<String>,
    /// The least severe level, as its place in [`LEVELS`].
    level: usize,
    /// What changes twice before the client is told is told once. No more than the subscriptions and the kinds.
    pending: BTreeSet<News>,
}

impl Told {
    /// The client is to be told, if it cares.
    pub(super) fn push(&self, news: &News) {
        let mut state = self.state();
        if let News::Updated(uri) = news
            && !state.subscriptions.contains(uri)
        {
            return;
        }
        state.pending.insert(news.clone());
        self.wake.notify_one();
    }

    pub(super) fn subscribe(&self, uri: String) -> Result<(), ErrorObject> {
        let mut state = self.state();
        if state.subscriptions.len() >= MAX_SUBSCRIPTIONS && !state.subscriptions.contains(&uri) {
            return Err(invalid(format!("no more than {MAX_SUBSCRIPTIONS} subscriptions")));
        }
        state.subscriptions.insert(uri);
        Ok(())
    }

    pub(super) fn unsubscribe(&self, uri: String) {
        let mut state = self.state();
        state.subscriptions.remove(&uri);
        state.pending.remove(&News::Updated(uri));
    }

    pub(super) fn set_level(&self, level: &LoggingLevel) -> Result<(), ErrorObject> {
        let severity = severity(level).ok_or_else(|| invalid(format!("unknown log level `{}`", level.as_str())))?;
        self.state().level = severity;
        Ok(())
    }

    /// Whether the client wants log messages of a level. A level that the protocol doesn't know is for everybody.
    pub(super) fn wants(&self, level: &LoggingLevel) -> bool {
        severity(level).is_none_or(|severity| severity >= self.state().level)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn severity(level: &LoggingLevel) -> Option<usize> {
    LEVELS.iter().position(|known| known == level)
}

/// Tells a client what changes until its session ends.
pub(super) async fn tell(peer: Peer<ServerSide>, told: Arc<Told>) {
    loop {
        tokio::select! {
            () = told.wake.notified() => {}
            () = peer.shared.ended.cancelled() => return,
        }
        let pending = std::mem::take(&mut told.state().pending);
        if peer.revision().is_none() {
            // It has not asked for anything yet, and so nothing of what it knows has changed.
            continue;
        }
        for news in pending {
            if let Err(error) = tell_one(&peer, news).await {
                tracing::debug!(%error, "the client wasn't told of a change");
            }
        }
    }
}

async fn tell_one(peer: &Peer<ServerSide>, news: News) -> Result<(), CallError> {
    match news {
        News::Tools => peer.notify_tool_list_changed(None).await,
        News::Resources => peer.notify_resource_list_changed(None).await,
        News::Prompts => peer.notify_prompt_list_changed(None).await,
        News::Updated(uri) => {
            let params = hub::ResourceUpdatedNotificationParams::new(uri);
            peer.notify_resource_updated(params).await
        }
    }
}
