//! Helpers of the tests of sessions.

use std::time::Duration;

use mcp_runtime::transport::Transport;
use mcp_runtime::{ClientSession, ConnectError, Era, Options, Revision, connect, hub};
use tracing::Dispatch;
use tracing::subscriber::{DefaultGuard, NoSubscriber, set_default};

/// The time limit for steps that usually take no time, long enough for a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The revisions with sessions, including drafts.
pub fn session_revisions() -> Vec<Revision> {
    Revision::ALL
        .into_iter()
        .filter(|revision| revision.facts().initializes)
        .collect()
}

/// The stateless revision whose messages the tests write. A later one can have other members and methods.
pub fn stateless() -> Revision {
    Revision::V2026_07_28
}

/// The revision with a handshake whose messages the tests write.
pub fn handshake() -> Revision {
    Revision::V2025_11_25
}

/// The revisions that have all of these methods.
pub fn revisions_with(methods: &[&str]) -> impl Iterator<Item = Revision> {
    let have_all = |revision: &Revision| methods.iter().all(|method| revision.method(method).is_some());
    Revision::ALL.into_iter().filter(have_all)
}

/// Options of a client that starts with a handshake, without discovery.
pub fn with_handshake() -> Options {
    Options {
        era: Some(Era::Handshake),
        ..Options::default()
    }
}

/// Connects a client without handlers and capabilities.
pub async fn connect_to(transport: impl Transport, options: Options) -> Result<ClientSession, ConnectError> {
    let info = hub::Implementation::new("client", "1.0");
    connect((), info, hub::ClientCapabilities::default(), options, transport).await
}

/// Sets the subscriber of this thread until the guards are dropped.
pub fn subscribe(subscriber: impl tracing::Subscriber + Send + Sync) -> (Dispatch, DefaultGuard) {
    // With only one subscriber, tracing asks the subscriber of the thread that reaches an event first. That thread can
    // belong to another test, which has no subscriber.
    let second = Dispatch::new(NoSubscriber::new());
    (second, set_default(subscriber))
}
