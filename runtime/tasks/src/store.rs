//! The tasks of a server.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use chrono::Utc;
use mcp_runtime_core::ErrorObject;
use mcp_runtime_core::internal::internal_error;
use mcp_runtime_core::transport::Principal;
use mcp_runtime_util::FOREVER;
use tokio_util::task::AbortOnDropHandle;

use crate::error::{no_such_task, restored, stored, unavailable};
use crate::record::{State, TaskRecord};
use crate::shared::{TaskEvent, TaskMessage, TaskStore};
use crate::task::Task;
use crate::watch::Watch;

/// The bytes of a task's id, which is written in hexadecimal.
const ID_BYTES: usize = 16;

/// Whether a text has the form of a task's id. A task with this id may have been removed.
pub(crate) fn is_task_id(text: &str) -> bool {
    text.len() == 2 * ID_BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The limits of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskLimits {
    /// How long a task is kept after its creation: one that hasn't ended by then is stopped. The default is an hour.
    pub ttl: Duration,
    /// The poll interval for the state of a task, which is sent to clients. The default is a second.
    pub poll_interval: Duration,
    /// The maximum number of tasks of this instance that are kept at a time. The default is 10,000.
    pub tasks: usize,
    /// The maximum size of all their results together, in bytes. The default is 64 MiB.
    pub bytes: usize,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(60 * 60),
            poll_interval: Duration::from_secs(1),
            tasks: 10_000,
            bytes: 64 << 20,
        }
    }
}

/// The tasks of a server. Clones are the same tasks.
///
/// [`Router::extension`](mcp_runtime_router::Router::extension) takes it: the server then declares the extension,
/// answers `tasks/get`, `tasks/update` and `tasks/cancel`, and notifies the clients that subscribe to a task. A task
/// belongs to the principal whose call created it, and doesn't exist for any other.
///
/// Tasks are in memory, unless instances share them [in a store](Self::with_store).
#[derive(Clone, Default)]
pub struct Tasks {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    limits: TaskLimits,
    kept: Mutex<Kept>,
    store: Option<Arc<dyn TaskStore>>,
    /// Receives the messages of other instances.
    receiving: OnceLock<AbortOnDropHandle<()>>,
}

/// The tasks of this instance by their ids, until they expire.
#[derive(Default)]
struct Kept {
    tasks: BTreeMap<String, Task>,
    expiries: BTreeSet<(Instant, String)>,
    /// The size of all results in bytes.
    bytes: usize,
}

impl Kept {
    /// Removes expired tasks.
    fn purge(&mut self) {
        let now = Instant::now();
        while self.expiries.first().is_some_and(|(expiry, _)| *expiry <= now) {
            if let Some((_, id)) = self.expiries.pop_first() {
                self.forget(&id);
            }
        }
    }

    fn forget(&mut self, id: &str) {
        if let Some(task) = self.tasks.remove(id) {
            self.bytes -= task.record.bytes();
            self.expiries.remove(&(task.expires, id.to_owned()));
        }
    }

    fn insert(&mut self, record: TaskRecord) {
        let task = Task::new(record);
        let id = task.record.id.clone();
        self.expiries.insert((task.expires, id.clone()));
        self.tasks.insert(id, task);
    }
}

impl Tasks {
    /// Creates an empty set of tasks with these limits.
    #[must_use]
    pub fn new(limits: TaskLimits) -> Self {
        let inner = Inner {
            limits,
            ..Inner::default()
        };
        Self { inner: Arc::new(inner) }
    }

    /// Creates a set of tasks that the instances of a server share: each instance answers requests about all of them. A
    /// task whose instance is gone has failed, unless it [is queued](Self::enqueue).
    ///
    /// The limits are those of each instance.
    #[must_use]
    pub fn with_store(limits: TaskLimits, store: impl TaskStore) -> Self {
        let inner = Inner {
            limits,
            store: Some(Arc::new(store)),
            ..Inner::default()
        };
        Self { inner: Arc::new(inner) }
    }

    /// Locks the tasks, and removes expired ones.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        let mut kept = self.inner.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.purge();
        kept
    }

    pub(crate) fn limits(&self) -> &TaskLimits {
        &self.inner.limits
    }

    fn store(&self) -> Option<&Arc<dyn TaskStore>> {
        self.inner.store.as_ref()
    }

    /// Creates a task.
    ///
    /// # Errors
    /// When the maximum number of tasks is reached, or the store doesn't accept the task.
    pub(crate) async fn begin(
        &self,
        owner: Option<&Principal>,
        is_queued: bool,
        ttl: Option<Duration>,
    ) -> Result<TaskRecord, ErrorObject> {
        let mut number = [0; ID_BYTES];
        getrandom::fill(&mut number).map_err(|_| internal_error("the system has no random numbers"))?;
        let now = Utc::now();
        let limits = self.limits();
        let record = TaskRecord {
            id: number.iter().map(|byte| format!("{byte:02x}")).collect(),
            owner: owner.map(|owner| owner.0.clone()),
            runner: self
                .store()
                .filter(|_| !is_queued)
                .map(|store| store.instance().to_owned()),
            is_queued,
            created: now,
            updated: now,
            ttl: ttl.unwrap_or(FOREVER).min(limits.ttl).min(FOREVER),
            poll_interval: limits.poll_interval,
            message: None,
            state: State::working(),
        };
        {
            let mut kept = self.kept();
            if kept.tasks.len() >= limits.tasks {
                return Err(internal_error("the server has its maximum number of tasks"));
            }
            // A queued task in a shared store belongs to the instance that will run it.
            if !(is_queued && self.store().is_some()) {
                kept.insert(record.clone());
            }
        }
        if let Some(store) = self.store() {
            self.receive(store);
            store.write(&record).await.map_err(unavailable)?;
        }
        Ok(record)
    }

    /// Makes room for one more task of a client with this limit: if it is reached, the task that ended first is
    /// removed.
    ///
    /// # Errors
    /// When the limit is reached, and no task has ended.
    pub(crate) fn make_room(&self, owner: &Principal, limit: usize) -> Result<(), ErrorObject> {
        let mut kept = self.kept();
        let own = kept.tasks.values().map(|task| &task.record);
        let own = own.filter(|record| record.is_of(Some(owner)));
        if own.clone().count() < limit {
            return Ok(());
        }
        let ended = own
            .filter(|record| record.has_ended())
            .min_by_key(|record| record.updated);
        let ended = ended.map(|record| record.id.clone());
        let ended = ended.ok_or_else(|| internal_error("the client has as many tasks as it may have"))?;
        kept.forget(&ended);
        Ok(())
    }

    /// Takes over a task that another instance runs, or that waits in a queue.
    ///
    /// # Errors
    /// When there is no such task in progress, or the store doesn't respond.
    pub(crate) async fn take(&self, id: &str) -> Result<(), ErrorObject> {
        let Some(store) = self.store() else {
            let goes_on = self.with(id, |task| !task.record.has_ended());
            return goes_on.unwrap_or_default().then_some(()).ok_or_else(no_such_task);
        };
        self.receive(store);
        let record = store.read(id).await.map_err(unavailable)?;
        let mut record = record.filter(|record| !record.has_ended()).ok_or_else(no_such_task)?;
        record.runner = Some(store.instance().to_owned());
        // The input requests of the previous instance no longer count.
        record.state = State::working();
        store.write(&record).await.map_err(unavailable)?;
        self.kept().insert(record);
        Ok(())
    }

    /// Reads or changes a task of this instance; `None` if it has no task with this id any more.
    pub(crate) fn with<T>(&self, id: &str, change: impl FnOnce(&mut Task) -> T) -> Option<T> {
        self.kept().tasks.get_mut(id).map(change)
    }

    /// Ends a task of this instance. A result that is too large makes it fail.
    pub(crate) fn end(&self, id: &str, state: State) {
        let mut kept = self.kept();
        let Kept { tasks, bytes, .. } = &mut *kept;
        let state = match state {
            State::Completed { result } if *bytes + result.text().len() > self.limits().bytes => {
                State::lost("the server can't keep the result, because the results of all tasks are too large")
            }
            state => state,
        };
        if let Some(task) = tasks.get_mut(id) {
            let before = task.record.bytes();
            task.end(state);
            *bytes += task.record.bytes() - before;
        }
    }

    /// Writes a task of this instance into the store, if there is one. From then on, the result of an ended task is
    /// only in the store.
    pub(crate) async fn publish(&self, id: &str) {
        let Some(store) = self.store() else { return };
        let record = self.with(id, |task| (!task.is_stored).then(|| task.record.clone()));
        let Some(record) = record.flatten() else { return };
        loop {
            match store.write(&record).await {
                Ok(()) => break,
                // Retries until the task expires.
                Err(error) if record.has_ended() && !record.remaining().is_zero() => {
                    tracing::error!(error, task = id, "the store doesn't accept the end of a task");
                    tokio::time::sleep(self.limits().poll_interval).await;
                }
                Err(error) => {
                    tracing::error!(error, task = id, "the store doesn't accept the state of a task");
                    break;
                }
            }
        }
        if record.has_ended() {
            let mut kept = self.kept();
            let Kept { tasks, bytes, .. } = &mut *kept;
            if let Some(task) = tasks.get_mut(id) {
                *bytes -= task.record.bytes();
                task.is_stored = true;
                task.record.state = State::Cancelled;
            }
        }
    }

    /// Finds a task of a client.
    ///
    /// # Errors
    /// When the client has no task with this id, or the store doesn't respond.
    pub(crate) async fn find(&self, id: &str, principal: Option<&Principal>) -> Result<TaskRecord, ErrorObject> {
        let own = self.with(id, |task| (!task.is_stored).then(|| task.record.clone()));
        let found = match (own.flatten(), self.store()) {
            (Some(record), _) => Some(record),
            (None, Some(store)) => self.read(store, id).await.map_err(unavailable)?,
            (None, None) => None,
        };
        found.filter(|record| record.is_of(principal)).ok_or_else(no_such_task)
    }

    /// Reads a task of any instance. A task whose instance is gone has failed.
    async fn read(
        &self,
        store: &Arc<dyn TaskStore>,
        id: &str,
    ) -> Result<Option<TaskRecord>, Box<dyn std::error::Error + Send + Sync>> {
        let Some(mut record) = store.read(id).await? else {
            return Ok(None);
        };
        if record.has_ended() || record.is_queued {
            return Ok(Some(record));
        }
        if let Some(runner) = &record.runner
            && store.is_alive(runner).await?
        {
            return Ok(Some(record));
        }
        record.end(State::lost("the instance of the server that ran the task is gone"));
        store.write(&record).await?;
        // Its end may have been written meanwhile.
        store.read(id).await
    }

    /// Lists the tasks of a client that this instance created, in the order of their ids, starting after `after`.
    pub(crate) fn list(&self, owner: &Principal, after: Option<&str>, count: usize) -> Vec<TaskRecord> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let kept = self.kept();
        let tasks = kept
            .tasks
            .range::<str, _>((from, Bound::Unbounded))
            .map(|(_, task)| task);
        let own = tasks.filter(|task| !task.is_stored && task.record.is_of(Some(owner)));
        own.take(count).map(|task| task.record.clone()).collect()
    }

    /// Answers input requests of a client's task.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub(crate) async fn answer(
        &self,
        record: &TaskRecord,
        answers: mcp_runtime_core::hub::InputResponses,
    ) -> Result<(), ErrorObject> {
        self.say(record, TaskEvent::Answered(answers)).await
    }

    /// Reports to the work of a task that the client has answered an input request with an error.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub(crate) async fn refuse(&self, record: &TaskRecord, name: &str, error: ErrorObject) -> Result<(), ErrorObject> {
        let event = TaskEvent::Refused {
            name: name.to_owned(),
            error: stored(error),
        };
        self.say(record, event).await
    }

    /// Cancels a task of a client, unless it has ended. Returns its last state.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub(crate) async fn cancel(&self, mut record: TaskRecord) -> Result<TaskRecord, ErrorObject> {
        if !record.end(State::Cancelled) {
            return Ok(record);
        }
        if let Some(store) = self.store() {
            store.write(&record).await.map_err(unavailable)?;
        }
        self.say(&record, TaskEvent::Cancelled).await?;
        Ok(record)
    }

    /// Sends an event to the work of a task, on the instance that runs it.
    async fn say(&self, record: &TaskRecord, event: TaskEvent) -> Result<(), ErrorObject> {
        let message = TaskMessage {
            id: record.id.clone(),
            event,
        };
        match (self.store(), &record.runner) {
            (Some(store), Some(runner)) if runner != store.instance() => {
                store.send(runner, &message).await.map_err(unavailable)
            }
            _ => {
                self.hear(message);
                Ok(())
            }
        }
    }

    /// Handles a message about a task of this instance.
    fn hear(&self, message: TaskMessage) {
        self.with(&message.id, |task| match message.event {
            TaskEvent::Answered(answers) => task.answer(answers),
            TaskEvent::Refused { name, error } => task.refuse(&name, restored(error)),
            TaskEvent::Cancelled => {
                task.end(State::Cancelled);
                task.cancelled.cancel();
            }
        });
    }

    /// Waits for changes of tasks that [`Self::find`] has found.
    pub(crate) fn watch<'a>(&self, ids: impl IntoIterator<Item = &'a str>) -> Watch {
        let mut watch = Watch::new(self.limits().poll_interval);
        for id in ids {
            let watcher = Arc::downgrade(&watch.watcher);
            let is_here = self.with(id, |task| {
                task.watch(watcher);
                !task.is_stored
            });
            if !is_here.unwrap_or_default() {
                watch.others.insert(id.to_owned());
            }
        }
        watch
    }

    /// Starts to receive the messages of other instances.
    fn receive(&self, store: &Arc<dyn TaskStore>) {
        self.inner.receiving.get_or_init(|| {
            let (inner, store) = (Arc::downgrade(&self.inner), Arc::clone(store));
            AbortOnDropHandle::new(tokio::spawn(receive(inner, store)))
        });
    }
}

async fn receive(inner: Weak<Inner>, store: Arc<dyn TaskStore>) {
    loop {
        let received = store.receive().await;
        let Some(inner) = inner.upgrade() else { return };
        let tasks = Tasks { inner };
        match received {
            Ok(messages) => messages.into_iter().for_each(|message| tasks.hear(message)),
            Err(error) => {
                tracing::error!(error, "messages about tasks can't be received from the store");
                tokio::time::sleep(tasks.limits().poll_interval).await;
            }
        }
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks")
            .field("limits", self.limits())
            .field("store", &self.inner.store)
            .field("tasks", &self.kept().tasks.len())
            .finish()
    }
}
