//! The fixtures of interop/drivers/fixtures.json, and their state in a session.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use rmcp::service::SubscriptionSink;
use serde_json::Value;

pub(super) static FIXTURES: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../../drivers/fixtures.json")).expect("the fixtures are JSON")
});

/// A server for one session.
#[derive(Clone, Default)]
pub(super) struct Fixtures(Arc<Mutex<Session>>);

/// The state of the fixtures in a session.
#[derive(Default)]
pub(super) struct Session {
    pub(super) level: usize,
    pub(super) cancelled: usize,
    pub(super) dynamic: bool,
    pub(super) subscribed: BTreeSet<String>,
    /// The subscribers of stateless clients, each with its number.
    pub(super) listening: Vec<(usize, SubscriptionSink)>,
    /// The number of subscribers so far.
    pub(super) listened: usize,
}

impl Fixtures {
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut Session) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the subscribers. A subscription is acknowledged before `listen` is called, so for stateless clients this
    /// waits for the first one.
    pub(super) async fn listeners(&self, is_stateless: bool) -> Vec<SubscriptionSink> {
        for _ in 0..40 {
            let sinks = self.with(|session| {
                session
                    .listening
                    .iter()
                    .map(|(_, sink)| sink.clone())
                    .collect::<Vec<_>>()
            });
            if !is_stateless || !sinks.is_empty() {
                return sinks;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Vec::new()
    }
}
