//! A session with each client of a socket.

use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::super::lines::LineLimits;
use super::listener::UnixListener;
use super::transport::UnixTransport;
use crate::session::ServerSession;

/// How long no client is accepted after an error.
const ACCEPT_AGAIN: Duration = Duration::from_secs(1);

/// Serves the clients of a socket: `start` starts the session with each.
///
/// It runs until it is [shut down](Serve::shutdown). Dropping its future ends the sessions too.
///
/// ```no_run
/// use mcp_runtime::transport::unix::{UnixListener, serve};
/// use mcp_runtime::{Options, Router};
/// use tokio_util::sync::CancellationToken;
///
/// # async fn example() -> std::io::Result<()> {
/// let router = Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny");
/// let shutdown = CancellationToken::new();
/// let listener = UnixListener::bind("/run/weather.sock").await?;
/// serve(listener, move |client| router.clone().serve(Options::default(), client)).shutdown(shutdown).await;
/// # Ok(())
/// # }
/// ```
pub fn serve<F>(listener: UnixListener, start: F) -> Serve<F>
where
    F: Fn(UnixTransport) -> ServerSession + Send + 'static,
{
    Serve {
        listener,
        start,
        limits: LineLimits::default(),
        max_connections: 1024,
        shutdown: CancellationToken::new(),
    }
}

/// Clients to be served; made by [`serve`], and awaited.
#[derive(Debug)]
#[must_use = "nobody is served unless this is awaited"]
pub struct Serve<F> {
    listener: UnixListener,
    start: F,
    limits: LineLimits,
    max_connections: usize,
    shutdown: CancellationToken,
}

impl<F> Serve<F> {
    /// The limits of the transports.
    pub fn limits(mut self, limits: LineLimits) -> Self {
        self.limits = limits;
        self
    }

    /// How many clients may be connected at once; the default is 1,024, as that is how many files a process may often have open.
    /// Those who come later wait until another is gone.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Stops once the token is cancelled: the socket is removed, no client is accepted any more, and the sessions are
    /// [closed](ServerSession::close).
    pub fn shutdown(mut self, token: CancellationToken) -> Self {
        self.shutdown = token;
        self
    }
}

impl<F> Serve<F>
where
    F: Fn(UnixTransport) -> ServerSession + Send + 'static,
{
    async fn run(self) {
        let room = Arc::new(Semaphore::new(self.max_connections));
        let sessions = TaskTracker::new();
        let closing = self.shutdown.child_token();
        let _close_when_done = closing.clone().drop_guard();
        loop {
            let accepted = async {
                // The semaphore is never closed.
                let permit = room.clone().acquire_owned().await;
                (permit, accept(&self.listener).await)
            };
            let (permit, stream) = tokio::select! {
                biased;
                () = self.shutdown.cancelled() => break,
                accepted = accepted => accepted,
            };
            let session = (self.start)(UnixTransport::new(stream, self.limits));
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

/// The next client. Errors are those of a process that has too many files open.
async fn accept(listener: &UnixListener) -> UnixStream {
    loop {
        match listener.accept().await {
            Ok(stream) => return stream,
            Err(error) => {
                tracing::error!(%error, "no connection can be accepted");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

impl<F> IntoFuture for Serve<F>
where
    F: Fn(UnixTransport) -> ServerSession + Send + 'static,
{
    type Output = ();
    type IntoFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}
