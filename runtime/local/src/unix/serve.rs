//! A server's loop that runs a session with each client of a socket.

use std::io;

use mcp_runtime_core::ServerSession;

use super::listener::UnixListener;
use super::transport::UnixTransport;
use crate::lines::LineLimits;
use crate::serve::{self, Accept};

/// A server's loop that serves clients while it is awaited; created by [`serve`].
pub type Serve<F> = serve::Serve<UnixListener, F>;

/// Serves the clients of a socket: `start` starts a session with each of them.
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
    Serve::new(listener, start)
}

impl Accept for UnixListener {
    type Transport = UnixTransport;

    async fn accept_client(&mut self, limits: LineLimits) -> io::Result<UnixTransport> {
        Ok(UnixTransport::new(self.accept().await?, limits))
    }
}
