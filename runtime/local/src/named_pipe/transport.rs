//! A connection over a named pipe.

use std::ffi::{OsStr, OsString};
use std::io;
use std::time::Duration;

use mcp_runtime_core::transport::{Restart, Transport};
use tokio::io::{ReadHalf, WriteHalf, split};
use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeClient, NamedPipeServer};
use tokio::time::sleep;

use crate::lines::{LineLimits, LineReceiver, LineSender, LineTransport};

/// The time after which a client tries again if all ends of the pipe are in use (`ERROR_PIPE_BUSY`).
const CONNECT_AGAIN: Duration = Duration::from_millis(20);
const PIPE_BUSY: i32 = 231;

/// A server's transport to one of its clients.
pub type NamedPipeServerTransport = LineTransport<ReadHalf<NamedPipeServer>, WriteHalf<NamedPipeServer>>;

/// The transport of a client.
#[derive(Debug)]
pub struct NamedPipeTransport {
    lines: LineTransport<ReadHalf<NamedPipeClient>, WriteHalf<NamedPipeClient>>,
    limits: LineLimits,
    /// The server's pipe, to connect again.
    server: Option<OsString>,
}

pub(super) fn server(pipe: NamedPipeServer, limits: LineLimits) -> NamedPipeServerTransport {
    let (reader, writer) = split(pipe);
    LineTransport::new(reader, writer, limits)
}

impl NamedPipeTransport {
    fn open(server: OsString, limits: LineLimits) -> io::Result<Self> {
        let (reader, writer) = split(ClientOptions::new().open(&server)?);
        Ok(Self {
            lines: LineTransport::new(reader, writer, limits),
            limits,
            server: Some(server),
        })
    }
}

impl Transport for NamedPipeTransport {
    type Sender = LineSender<WriteHalf<NamedPipeClient>>;
    type Receiver = LineReceiver<ReadHalf<NamedPipeClient>>;

    fn split(self) -> (Self::Sender, Self::Receiver) {
        self.lines.split()
    }

    /// A server can end the connection because of a request that it doesn't know.
    fn restart(&mut self) -> Option<Restart<Self>> {
        let (server, limits) = (self.server.take()?, self.limits);
        Some(Box::new(move || Ok(Self::open(server, limits)?)))
    }
}

/// Connects to the server that listens at this name.
///
/// ```no_run
/// use mcp_runtime::Client;
/// use mcp_runtime::transport::named_pipe;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let transport = named_pipe::connect(r"\\.\pipe\weather").await?;
/// let session = Client::new("client", "1.0").connect(transport).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When no server listens there, or this user isn't allowed to connect to it.
///
/// # Panics
/// Outside of a tokio runtime with I/O and time.
pub async fn connect(name: impl AsRef<OsStr>) -> io::Result<NamedPipeTransport> {
    connect_with(name, LineLimits::default()).await
}

/// Connects to a server, as [`connect()`] does, with these limits.
///
/// # Errors
/// Those of [`connect()`].
///
/// # Panics
/// Those of [`connect()`].
pub async fn connect_with(name: impl AsRef<OsStr>, limits: LineLimits) -> io::Result<NamedPipeTransport> {
    loop {
        match NamedPipeTransport::open(name.as_ref().to_owned(), limits) {
            Err(error) if error.raw_os_error() == Some(PIPE_BUSY) => sleep(CONNECT_AGAIN).await,
            opened => return opened,
        }
    }
}
