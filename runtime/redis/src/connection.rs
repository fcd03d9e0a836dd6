//! The connection to the store.

use std::time::Duration;

use mcp_runtime_http::server::StoreError;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, FromRedisValue, Pipeline, RedisResult};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// The error for a store that doesn't respond in time.
#[derive(Debug, thiserror::Error)]
#[error("the session store hasn't answered within {0:?}")]
struct CommandTimeout(Duration);

/// A connection that many tasks share, and that is replaced when it fails.
#[derive(Debug)]
pub(super) struct Connection {
    client: Client,
    timeout: Duration,
    current: Mutex<Current>,
}

#[derive(Debug, Default)]
struct Current {
    connection: Option<MultiplexedConnection>,
    /// The number of connections so far.
    number: u64,
}

impl Connection {
    pub(super) fn new(client: Client, timeout: Duration) -> Self {
        Self {
            client,
            timeout,
            current: Mutex::default(),
        }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Sends commands, and waits for their results.
    pub(super) async fn query<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T, StoreError> {
        let mut used = None;
        let answer = timeout(self.timeout, async {
            let (mut connection, number) = self.get().await?;
            used = Some(number);
            commands.query_async(&mut connection).await
        });
        let error: StoreError = match answer.await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) if !error.is_unrecoverable_error() && !error.is_timeout() => return Err(error.into()),
            Ok(Err(error)) => error.into(),
            Err(_) => CommandTimeout(self.timeout).into(),
        };
        if let Some(number) = used {
            let mut current = self.current.lock().await;
            if current.number == number {
                current.connection = None;
            }
        }
        Err(error)
    }

    async fn get(&self) -> RedisResult<(MultiplexedConnection, u64)> {
        let mut current = self.current.lock().await;
        let connection = match &current.connection {
            Some(connection) => connection.clone(),
            None => {
                let connection = connect(&self.client, self.timeout).await?;
                current.number += 1;
                current.connection.insert(connection).clone()
            }
        };
        Ok((connection, current.number))
    }
}

/// Opens a connection whose commands have no timeout.
pub(super) async fn connect(client: &Client, patience: Duration) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(patience))
        .set_response_timeout(None);
    client.get_multiplexed_async_connection_with_config(&config).await
}

/// Waits for a response of the store.
pub(super) async fn within<T>(
    patience: Duration,
    answer: impl Future<Output = RedisResult<T>>,
) -> Result<T, StoreError> {
    match timeout(patience, answer).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(CommandTimeout(patience).into()),
    }
}

/// Returns the milliseconds of an expiry, which must not be 0.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).max(1)
}
