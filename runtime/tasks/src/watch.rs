//! Waiting for changes of tasks.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

/// The tasks that have changed, each once, until they are read.
#[derive(Debug, Default)]
pub(crate) struct Watcher {
    changed: Mutex<BTreeSet<String>>,
    notify: Notify,
}

impl Watcher {
    pub(crate) fn push(&self, id: &str) {
        let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        if !changed.contains(id) {
            changed.insert(id.to_owned());
        }
        self.notify.notify_one();
    }

    /// Waits for the next task that has changed.
    async fn next(&self) -> String {
        loop {
            let next = self.changed.lock().unwrap_or_else(PoisonError::into_inner).pop_first();
            match next {
                Some(id) => return id,
                None => self.notify.notified().await,
            }
        }
    }
}

/// Waits for changes of tasks: tasks of this instance report them, and tasks of other instances are polled.
pub(crate) struct Watch {
    pub(crate) watcher: Arc<Watcher>,
    /// The tasks of other instances.
    pub(crate) others: BTreeSet<String>,
    pub(crate) interval: Duration,
    /// The tasks of other instances that are due to be read.
    due: Vec<String>,
}

impl Watch {
    pub(crate) fn new(interval: Duration) -> Self {
        Self {
            watcher: Arc::default(),
            others: BTreeSet::new(),
            interval,
            due: Vec::new(),
        }
    }

    /// Waits for a task that may have changed.
    pub(crate) async fn next(&mut self) -> String {
        loop {
            if let Some(id) = self.due.pop() {
                return id;
            }
            tokio::select! {
                id = self.watcher.next() => return id,
                () = sleep(self.interval), if !self.others.is_empty() => self.due.extend(self.others.iter().cloned()),
            }
        }
    }
}
