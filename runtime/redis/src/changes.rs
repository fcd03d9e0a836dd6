//! Changes of lists and resources, as a stream of the store that all instances follow.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_runtime_core::Change;
use mcp_runtime_http::server::StoreError;
use mcp_runtime_router::ChangeStore;
use redis::aio::MultiplexedConnection;
use redis::streams::{StreamId, StreamRangeReply};
use tokio::sync::Mutex;
use tokio_util::task::AbortOnDropHandle;

use super::connection::{Connection, connect, millis, within};
use super::inbox::{WAIT, read};

/// The maximum number of changes in the stream, for instances that are behind, and how long it is kept after the last
/// one.
const KEPT: u32 = 4096;
const EXPIRY: Duration = Duration::from_secs(60 * 60);

type Stored<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The changes that the instances of a server send each other. [`RedisStore::changes`](super::RedisStore::changes)
/// returns it.
pub struct RedisChanges {
    instance: String,
    key: String,
    connection: Arc<Connection>,
    following: Mutex<Following>,
    /// Keeps the heartbeat running as long as changes are shared.
    _heartbeat: Arc<AbortOnDropHandle<()>>,
}

/// The position in the stream, which is read by a separate connection: on a shared one, other commands would wait
/// behind a blocking read.
struct Following {
    connection: Option<MultiplexedConnection>,
    /// The id of the last change.
    last: String,
}

impl RedisChanges {
    /// Follows the changes from now on.
    pub(super) async fn new(
        instance: String,
        key: String,
        (connection, heartbeat): (Arc<Connection>, Arc<AbortOnDropHandle<()>>),
    ) -> Result<Self, StoreError> {
        let mut pipeline = redis::pipe();
        pipeline
            .cmd("XREVRANGE")
            .arg(&key)
            .arg("+")
            .arg("-")
            .arg("COUNT")
            .arg(1);
        let (newest,): (StreamRangeReply,) = connection.query(&pipeline).await?;
        let newest = newest.ids.into_iter().next();
        let following = Following {
            connection: None,
            last: newest.map_or_else(|| "0".to_owned(), |newest| newest.id),
        };
        Ok(Self {
            instance,
            key,
            connection,
            following: Mutex::new(following),
            _heartbeat: heartbeat,
        })
    }

    async fn append(&self, change: &Change) -> Result<(), StoreError> {
        let (list, uri) = match change {
            Change::ToolList => ("tools", ""),
            Change::PromptList => ("prompts", ""),
            Change::ResourceList => ("resources", ""),
            Change::Resource(uri) => ("", &**uri),
        };
        let mut pipeline = redis::pipe();
        let command = pipeline
            .cmd("XADD")
            .arg(&self.key)
            .arg("MAXLEN")
            .arg("~")
            .arg(KEPT)
            .arg("*");
        let command = command.arg("from").arg(&self.instance);
        command.arg("list").arg(list).arg("uri").arg(uri).ignore();
        pipeline.cmd("PEXPIRE").arg(&self.key).arg(millis(EXPIRY)).ignore();
        self.connection.query(&pipeline).await
    }

    /// Waits for changes of other instances since the last read.
    async fn follow(&self) -> Result<Vec<Change>, StoreError> {
        let (client, timeout) = (self.connection.client(), self.connection.timeout());
        let mut following = self.following.lock().await;
        let mut connection = match following.connection.take() {
            Some(connection) => connection,
            None => connect(client, timeout).await?,
        };
        let read = read(&mut connection, &self.key, &following.last);
        let changes = within(WAIT.saturating_add(timeout), read).await?;
        if let Some(last) = changes.last() {
            following.last.clone_from(&last.id);
        }
        // A connection that has failed isn't kept.
        following.connection = Some(connection);
        let others = changes
            .iter()
            .filter(|change| change.get("from").as_ref() != Some(&self.instance));
        Ok(others.filter_map(change).collect())
    }
}

/// Decodes a change; `None` for one that another version of the program has sent.
fn change(stored: &StreamId) -> Option<Change> {
    let list: String = stored.get("list")?;
    match &*list {
        "tools" => Some(Change::ToolList),
        "prompts" => Some(Change::PromptList),
        "resources" => Some(Change::ResourceList),
        "" => Some(Change::Resource(stored.get::<String>("uri")?.into())),
        _ => None,
    }
}

impl ChangeStore for RedisChanges {
    fn send<'a>(&'a self, change: &'a Change) -> Stored<'a, ()> {
        Box::pin(self.append(change))
    }

    fn receive(&self) -> Stored<'_, Vec<Change>> {
        Box::pin(self.follow())
    }
}

impl fmt::Debug for RedisChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisChanges")
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}
