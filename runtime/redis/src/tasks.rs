//! The tasks that instances share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_runtime_http::server::StoreError;
use mcp_runtime_tasks::{StoreFuture, TaskMessage, TaskRecord, TaskStore};
use tokio_util::task::AbortOnDropHandle;

use super::RedisStore;
use super::connection::{Connection, millis};
use super::inbox::Inbox;
use super::keys::Keys;

/// The maximum number of messages in the inbox of an instance, and how long it is kept after the last one.
const INBOX_MESSAGES: u32 = 4096;
const INBOX_EXPIRY: Duration = Duration::from_secs(60);

/// The tasks that the instances of a server share. [`RedisStore::tasks`] returns it.
///
/// A store that evicts keys when its memory is full, or has lost its data, forgets tasks before they expire.
pub struct RedisTasks {
    instance: String,
    prefix: String,
    connection: Arc<Connection>,
    inbox: Inbox,
    /// Keeps the instance alive as long as its tasks.
    _heartbeat: Arc<AbortOnDropHandle<()>>,
}

impl RedisStore {
    /// Returns the store in which the instances share their tasks, for
    /// [`Tasks::with_store`](mcp_runtime_tasks::Tasks::with_store). An instance can use it only once.
    ///
    /// ```no_run
    /// use mcp_runtime::Router;
    /// use mcp_runtime::tasks::{TaskLimits, Tasks};
    /// use mcp_runtime::transport::http::server::{RedisOptions, RedisStore};
    ///
    /// # async fn example() -> Result<(), mcp_runtime::transport::http::server::StoreError> {
    /// let store = RedisStore::connect("redis://127.0.0.1/", RedisOptions::default()).await?;
    /// let tasks = Tasks::with_store(TaskLimits::default(), store.tasks());
    /// let router = Router::new("builds", "1.0").extension(tasks);
    /// # let _ = router;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn tasks(&self) -> RedisTasks {
        RedisTasks::new(self)
    }
}

impl Keys<'_> {
    /// Returns the keys of a task and of its end, on one node of a cluster.
    fn task(&self, id: &str) -> [String; 2] {
        let task = format!("{}:task:{{{id}}}", self.0);
        let end = format!("{task}:end");
        [task, end]
    }

    fn task_inbox(&self, instance: &str) -> String {
        format!("{}:task-inbox:{instance}", self.0)
    }
}

impl RedisTasks {
    pub(super) fn new(store: &RedisStore) -> Self {
        Self {
            instance: store.instance.clone(),
            prefix: store.options.prefix.clone(),
            connection: Arc::clone(&store.connection),
            inbox: Inbox::new(store.connection.client().clone(), store.connection.timeout()),
            _heartbeat: Arc::clone(&store.heartbeat),
        }
    }

    fn keys(&self) -> Keys<'_> {
        Keys(&self.prefix)
    }

    async fn put(&self, task: &TaskRecord) -> Result<(), StoreError> {
        let remaining = task.remaining();
        if remaining.is_zero() {
            return Ok(());
        }
        let [state, end] = self.keys().task(task.id());
        let mut pipeline = redis::pipe();
        let command = pipeline.cmd("SET");
        command.arg(if task.has_ended() { end } else { state });
        command
            .arg(serde_json::to_string(task)?)
            .arg("PX")
            .arg(millis(remaining));
        if task.has_ended() {
            // The first end stays.
            command.arg("NX");
        }
        command.ignore();
        self.connection.query(&pipeline).await
    }

    async fn get(&self, id: &str) -> Result<Option<TaskRecord>, StoreError> {
        let mut pipeline = redis::pipe();
        pipeline.cmd("MGET").arg(&self.keys().task(id));
        let ((state, end),): ((Option<String>, Option<String>),) = self.connection.query(&pipeline).await?;
        let json = end.or(state);
        Ok(json.map(|json| serde_json::from_str(&json)).transpose()?)
    }

    async fn put_into_inbox(&self, instance: &str, message: &TaskMessage) -> Result<(), StoreError> {
        let inbox = self.keys().task_inbox(instance);
        let mut pipeline = redis::pipe();
        let command = pipeline
            .cmd("XADD")
            .arg(&inbox)
            .arg("MAXLEN")
            .arg("~")
            .arg(INBOX_MESSAGES);
        command
            .arg("*")
            .arg("session")
            .arg("")
            .arg("message")
            .arg(serde_json::to_vec(message)?);
        command.ignore();
        pipeline.cmd("PEXPIRE").arg(&inbox).arg(millis(INBOX_EXPIRY)).ignore();
        self.connection.query(&pipeline).await
    }
}

impl TaskStore for RedisTasks {
    fn instance(&self) -> &str {
        &self.instance
    }

    fn is_alive<'a>(&'a self, instance: &'a str) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let mut pipeline = redis::pipe();
            pipeline.cmd("EXISTS").arg(self.keys().alive(instance));
            let (is_alive,) = self.connection.query(&pipeline).await?;
            Ok(is_alive)
        })
    }

    fn write<'a>(&'a self, task: &'a TaskRecord) -> StoreFuture<'a, ()> {
        Box::pin(self.put(task))
    }

    fn read<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<TaskRecord>> {
        Box::pin(self.get(id))
    }

    fn send<'a>(&'a self, instance: &'a str, message: &'a TaskMessage) -> StoreFuture<'a, ()> {
        Box::pin(self.put_into_inbox(instance, message))
    }

    fn receive(&self) -> StoreFuture<'_, Vec<TaskMessage>> {
        Box::pin(async {
            let messages = self.inbox.take(&self.keys().task_inbox(&self.instance)).await?;
            let messages = messages.iter().map(|message| serde_json::from_slice(&message.message));
            // A message that can't be read comes from another version of the program.
            Ok(messages.filter_map(Result::ok).collect())
        })
    }
}

impl fmt::Debug for RedisTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisTasks")
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}
