//! A session store on Redis or Valkey, which the instances of a server share.

mod changes;
mod connection;
mod inbox;
mod instances;
mod keys;
mod log;
mod proofs;
mod sessions;
mod states;
mod tasks;
mod used;

use std::sync::Arc;
use std::time::Duration;

use mcp_runtime_http::server::StoreError;
use tokio_util::task::AbortOnDropHandle;

pub use self::changes::RedisChanges;
use self::connection::{Connection, millis};
use self::inbox::Inbox;
use self::keys::Keys;
pub use self::proofs::RedisProofs;
pub use self::states::RedisStates;
pub use self::tasks::RedisTasks;

/// The settings of a [`RedisStore`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RedisOptions {
    /// The prefix of the keys. Different servers in the same database need different prefixes. The default is `mcp`.
    pub prefix: String,
    /// The timeout of a command, and of connecting; the default is 2 seconds.
    pub timeout: Duration,
    /// How long after its last heartbeat an instance counts as dead; the default is 5 seconds. It sends five heartbeats
    /// in that time.
    pub heartbeat: Duration,
    /// How long the events of a stream are kept after the last one; the default is 30 minutes.
    pub event_expiry: Duration,
    /// How long the events of a stream are kept that has ended; the default is 5 minutes.
    pub ended_expiry: Duration,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self {
            prefix: "mcp".to_owned(),
            timeout: Duration::from_secs(2),
            heartbeat: Duration::from_secs(5),
            event_expiry: Duration::from_secs(30 * 60),
            ended_expiry: Duration::from_secs(5 * 60),
        }
    }
}

/// A session store on Redis or Valkey (feature `redis`), with which any instance of a server can handle any request of
/// a session:
///
/// - A stream can be resumed at any instance. Its events are in the store before the client gets them. If the instance
///   that handled a request has died, the client gets the events before that, and an error response.
/// - Answers to input requests of the server, cancellations and progress reach the instance that waits for them.
///
/// While the store doesn't respond, requests of sessions get a 503, and requests in flight continue. The connection is
/// restored automatically.
///
/// ```no_run
/// use mcp_runtime::Router;
/// use mcp_runtime::transport::http::server::{HttpServer, RedisOptions, RedisStore};
///
/// # async fn example() -> Result<(), mcp_runtime::transport::http::server::StoreError> {
/// let store = RedisStore::connect("redis://127.0.0.1/", RedisOptions::default()).await?;
/// let server = HttpServer::new(Router::new("weather", "1.0")).store(store);
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
///
/// It needs Redis 6.2 or Valkey. Each server needs its own `RedisStore`: two servers with one would take each other's
/// messages.
#[derive(Debug)]
pub struct RedisStore {
    /// The name of this instance.
    instance: String,
    options: RedisOptions,
    connection: Arc<Connection>,
    inbox: Inbox,
    heartbeat: Arc<AbortOnDropHandle<()>>,
}

impl RedisStore {
    /// Connects to a store, such as `redis://127.0.0.1:6379/0`.
    ///
    /// # Errors
    /// When the URL is invalid, or the store doesn't respond.
    pub async fn connect(url: &str, options: RedisOptions) -> Result<Self, StoreError> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes)?;
        let instance = format!("{:016x}", u64::from_be_bytes(bytes));
        let client = redis::Client::open(url)?;
        let connection = Arc::new(Connection::new(client.clone(), options.timeout));
        let alive = Keys(&options.prefix).alive(&instance);
        beat(&connection, &alive, options.heartbeat).await?;
        let beating = heartbeat_loop(connection.clone(), alive, options.heartbeat);
        Ok(Self {
            inbox: Inbox::new(client, options.timeout),
            instance,
            options,
            connection,
            heartbeat: Arc::new(AbortOnDropHandle::new(tokio::spawn(beating))),
        })
    }

    /// Returns the store of the request states that the instances have used, for
    /// [`Sealing::single_use_in`](mcp_runtime_core::Sealing::single_use_in). One principal can have 16,384 at a time.
    #[must_use]
    pub fn states(&self) -> RedisStates {
        RedisStates::new(Arc::clone(&self.connection), self.options.prefix.clone())
    }

    /// Returns the store through which the instances send each other changes, for
    /// [`Router::share_changes`](mcp_runtime_router::Router::share_changes).
    ///
    /// ```no_run
    /// use mcp_runtime::Router;
    /// use mcp_runtime::transport::http::server::{RedisOptions, RedisStore};
    ///
    /// # async fn example() -> Result<(), mcp_runtime::transport::http::server::StoreError> {
    /// let store = RedisStore::connect("redis://127.0.0.1/", RedisOptions::default()).await?;
    /// let router = Router::new("weather", "1.0").share_changes(store.changes().await?);
    /// # let _ = router;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the store doesn't respond.
    pub async fn changes(&self) -> Result<RedisChanges, StoreError> {
        let following = (Arc::clone(&self.connection), Arc::clone(&self.heartbeat));
        RedisChanges::new(self.instance.clone(), self.keys().changes(), following).await
    }

    fn keys(&self) -> Keys<'_> {
        Keys(&self.options.prefix)
    }
}

/// Sends heartbeats to the other instances.
async fn heartbeat_loop(connection: Arc<Connection>, alive: String, heartbeat: Duration) {
    let mut failed = false;
    loop {
        tokio::time::sleep(heartbeat / 5).await;
        match beat(&connection, &alive, heartbeat).await {
            Ok(()) if failed => {
                tracing::info!("the session store answers again");
                failed = false;
            }
            Err(error) if !failed => {
                tracing::error!(error, "the session store doesn't answer");
                failed = true;
            }
            Ok(()) | Err(_) => {}
        }
    }
}

async fn beat(connection: &Connection, alive: &str, heartbeat: Duration) -> Result<(), StoreError> {
    let mut pipeline = redis::pipe();
    pipeline
        .cmd("SET")
        .arg(alive)
        .arg("1")
        .arg("PX")
        .arg(millis(heartbeat))
        .ignore();
    connection.query(&pipeline).await
}
