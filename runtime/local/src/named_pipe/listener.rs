//! A server's named pipe, and a session with each of its clients.

use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::replace;

use mcp_runtime_core::ServerSession;
use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};

use super::transport::{NamedPipeServerTransport, server};
use crate::lines::LineLimits;
use crate::serve::{self, Accept};

/// A named pipe that listens.
#[derive(Debug)]
pub struct NamedPipeListener {
    name: OsString,
    /// The server's end of the connection to the next client.
    next: NamedPipeServer,
}

impl NamedPipeListener {
    /// Listens at this name, such as `\\.\pipe\weather`. Only programs on this machine can connect.
    ///
    /// # Errors
    /// When another server listens there ([`PermissionDenied`](io::ErrorKind::PermissionDenied)), or when it isn't the name of a pipe.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O.
    pub fn bind(name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = name.as_ref().to_owned();
        let next = ServerOptions::new().first_pipe_instance(true).create(&name)?;
        Ok(Self { name, next })
    }

    /// Accepts the next client.
    ///
    /// # Errors
    /// Those of the operating system.
    pub async fn accept(&mut self) -> io::Result<NamedPipeServer> {
        if let Err(error) = self.next.connect().await {
            // The client has disconnected; this end is reused for the next one.
            self.next.disconnect()?;
            return Err(error);
        }
        let next = ServerOptions::new().create(&self.name)?;
        Ok(replace(&mut self.next, next))
    }
}

/// A server's loop that serves clients while it is awaited; created by [`serve`].
pub type Serve<F> = serve::Serve<NamedPipeListener, F>;

/// Serves the clients of a pipe: `start` starts a session with each of them.
///
/// It runs until it is [shut down](Serve::shutdown). Dropping its future ends the sessions too.
///
/// ```no_run
/// use mcp_runtime::transport::named_pipe::{NamedPipeListener, serve};
/// use mcp_runtime::{Options, Router};
///
/// # async fn example() -> std::io::Result<()> {
/// let router = Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny");
/// let listener = NamedPipeListener::bind(r"\\.\pipe\weather")?;
/// serve(listener, move |client| router.clone().serve(Options::default(), client)).await;
/// # Ok(())
/// # }
/// ```
pub fn serve<F>(listener: NamedPipeListener, start: F) -> Serve<F>
where
    F: Fn(NamedPipeServerTransport) -> ServerSession + Send + 'static,
{
    Serve::new(listener, start)
}

impl Accept for NamedPipeListener {
    type Transport = NamedPipeServerTransport;

    async fn accept_client(&mut self, limits: LineLimits) -> io::Result<NamedPipeServerTransport> {
        Ok(server(self.accept().await?, limits))
    }
}
