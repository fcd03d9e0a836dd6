//! A server's loop that runs a session with each client of a local socket or pipe.

use std::future::IntoFuture;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_runtime_core::ServerSession;
use mcp_runtime_core::transport::Transport;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::lines::LineLimits;

/// The pause after an error before the next client is accepted.
const ACCEPT_AGAIN: Duration = Duration::from_secs(1);

/// Accepts clients.
pub trait Accept: Send + 'static {
    /// The transport with a client.
    type Transport: Transport;

    /// Waits for the next client. Dropping the future loses no client.
    fn accept_client(&mut self, limits: LineLimits) -> impl Future<Output = io::Result<Self::Transport>> + Send;
}

/// A server's loop that serves clients while it is awaited; created by `serve`.
#[derive(Debug)]
#[must_use = "no client is served unless this is awaited"]
pub struct Serve<L, F> {
    listener: L,
    start: F,
    limits: LineLimits,
    max_connections: usize,
    shutdown: CancellationToken,
}

impl<L, F> Serve<L, F> {
    pub(crate) fn new(listener: L, start: F) -> Self {
        Self {
            listener,
            start,
            limits: LineLimits::default(),
            max_connections: 1024,
            shutdown: CancellationToken::new(),
        }
    }

    /// Sets the limits of the transports.
    pub fn limits(mut self, limits: LineLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many clients can be connected at once. The default is 1,024, a common limit on the open files of a
    /// process. Further clients wait until another one disconnects.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Stops once the token is cancelled: the socket or pipe is removed, no more clients are accepted, and the sessions
    /// are [closed](ServerSession::close).
    pub fn shutdown(mut self, token: CancellationToken) -> Self {
        self.shutdown = token;
        self
    }
}

impl<L, F> Serve<L, F>
where
    L: Accept,
    F: Fn(L::Transport) -> ServerSession + Send + 'static,
{
    async fn run(mut self) {
        let room = Arc::new(Semaphore::new(self.max_connections));
        let sessions = TaskTracker::new();
        let closing = self.shutdown.child_token();
        let _close_when_done = closing.clone().drop_guard();
        loop {
            let accepted = async {
                // The semaphore is never closed.
                let permit = room.clone().acquire_owned().await;
                (permit, accept(&mut self.listener, self.limits).await)
            };
            let (permit, transport) = tokio::select! {
                biased;
                () = self.shutdown.cancelled() => break,
                accepted = accepted => accepted,
            };
            let session = (self.start)(transport);
            let closing = closing.clone();
            sessions.spawn(async move {
                closing.run_until_cancelled(session.closed()).await;
                session.close().await;
                drop(permit);
            });
        }
        drop(self.listener);
        sessions.close();
        sessions.wait().await;
    }
}

/// Accepts the next client. Tries again after an error, such as when the process has too many files open.
async fn accept<L: Accept>(listener: &mut L, limits: LineLimits) -> L::Transport {
    loop {
        match listener.accept_client(limits).await {
            Ok(transport) => return transport,
            Err(error) => {
                tracing::error!(%error, "no connection can be accepted");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

impl<L, F> IntoFuture for Serve<L, F>
where
    L: Accept,
    F: Fn(L::Transport) -> ServerSession + Send + 'static,
{
    type Output = ();
    type IntoFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}
