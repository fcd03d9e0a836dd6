//! Changes that the instances of a server send each other.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use mcp_runtime_core::Change;
use mcp_runtime_util::{BoxFuture, Mutex};
use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

/// The pause before a store is tried again after an error.
const PAUSE: Duration = Duration::from_secs(1);
/// The maximum number of distinct changes that wait for a store.
const MAX_WAITING: usize = 4096;

/// The result of an operation of a shared store.
type Stored<'a, T> = BoxFuture<'a, Result<T, Box<dyn Error + Send + Sync>>>;

/// Distributes changes of lists and resources between the instances of a server, for
/// [`Router::share_changes`](super::Router::share_changes). `RedisStore::changes` returns one.
pub trait ChangeStore: Send + Sync + 'static {
    /// Sends a change to the other instances. If it fails, it is called again.
    fn send<'a>(&'a self, change: &'a Change) -> Stored<'a, ()>;

    /// Waits for changes that other instances have sent since the last call. The result may be empty; the method is
    /// called again in any case.
    fn receive(&self) -> Stored<'_, Vec<Change>>;
}

/// The tasks that send changes to other instances and receive theirs.
pub(super) struct SharedChanges {
    outbox: Arc<Outbox>,
    _tasks: [AbortOnDropHandle<()>; 2],
}

/// The changes that wait to be sent to other instances.
#[derive(Default)]
struct Outbox {
    waiting: Mutex<BTreeSet<Change>>,
    is_filled: Notify,
}

impl SharedChanges {
    /// Starts the tasks. `notify` notifies the clients of this instance of changes, and returns whether the router
    /// still exists.
    pub(super) fn start(store: Arc<dyn ChangeStore>, notify: impl Fn(&[Change]) -> bool + Send + 'static) -> Self {
        let outbox = Arc::<Outbox>::default();
        let sending = tokio::spawn(send(Arc::clone(&store), Arc::clone(&outbox)));
        let receiving = tokio::spawn(receive(store, notify));
        let _tasks = [sending, receiving].map(AbortOnDropHandle::new);
        Self { outbox, _tasks }
    }

    /// Queues a change to be sent.
    pub(super) fn send(&self, change: &Change) {
        let mut waiting = self.outbox.waiting.lock();
        if waiting.len() >= MAX_WAITING && !waiting.contains(change) {
            tracing::error!(
                ?change,
                "other instances aren't notified of a change, because too many changes wait for the store"
            );
            return;
        }
        waiting.insert(change.clone());
        self.outbox.is_filled.notify_one();
    }
}

async fn send(store: Arc<dyn ChangeStore>, outbox: Arc<Outbox>) {
    loop {
        outbox.is_filled.notified().await;
        let mut waiting = std::mem::take(&mut *outbox.waiting.lock());
        while let Some(change) = waiting.pop_first() {
            while let Err(error) = store.send(&change).await {
                tracing::warn!(error, "failed to send a change to other instances; trying again");
                sleep(PAUSE).await;
            }
        }
    }
}

async fn receive(store: Arc<dyn ChangeStore>, notify: impl Fn(&[Change]) -> bool) {
    loop {
        let received = store.receive().await;
        if !notify(received.as_deref().unwrap_or_default()) {
            return;
        }
        if let Err(error) = received {
            tracing::warn!(error, "failed to receive changes of other instances; trying again");
            sleep(PAUSE).await;
        }
    }
}
