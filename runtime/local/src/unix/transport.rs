//! A connection over a Unix socket.

use std::io;
use std::path::{Path, PathBuf};

use mcp_runtime_core::transport::{Restart, Transport};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::lines::{LineLimits, LineReceiver, LineSender, LineTransport};

/// The half of a [`UnixTransport`] that sends.
pub type UnixSender = LineSender<OwnedWriteHalf>;

/// The half of a [`UnixTransport`] that receives.
pub type UnixReceiver = LineReceiver<OwnedReadHalf>;

/// A transport whose messages are lines of JSON, over a Unix socket.
#[derive(Debug)]
pub struct UnixTransport {
    lines: LineTransport<OwnedReadHalf, OwnedWriteHalf>,
    limits: LineLimits,
    /// The path of the server, for a client that connects again.
    server: Option<PathBuf>,
}

impl UnixTransport {
    /// Creates a transport over this stream.
    #[must_use]
    pub fn new(stream: UnixStream, limits: LineLimits) -> Self {
        let (reader, writer) = stream.into_split();
        Self {
            lines: LineTransport::new(reader, writer, limits),
            limits,
            server: None,
        }
    }
}

impl Transport for UnixTransport {
    type Sender = UnixSender;
    type Receiver = UnixReceiver;

    fn split(self) -> (UnixSender, UnixReceiver) {
        self.lines.split()
    }

    /// A server can end the connection because of a request that it doesn't know.
    fn restart(&mut self) -> Option<Restart<Self>> {
        let (server, limits) = (self.server.take()?, self.limits);
        Some(Box::new(move || {
            // This blocks only while the server's queue of waiting clients is full.
            let stream = std::os::unix::net::UnixStream::connect(&server)?;
            stream.set_nonblocking(true)?;
            let again = Self::new(UnixStream::from_std(stream)?, limits);
            Ok(Self {
                server: Some(server),
                ..again
            })
        }))
    }
}

/// Connects to the server that listens at this path.
///
/// ```no_run
/// use mcp_runtime::Client;
/// use mcp_runtime::transport::unix;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let session = Client::new("client", "1.0").connect(unix::connect("/run/weather.sock").await?).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When no server listens there, or this user isn't allowed to write to its socket.
pub async fn connect(path: impl AsRef<Path>) -> io::Result<UnixTransport> {
    connect_with(path, LineLimits::default()).await
}

/// Connects to a server, as [`connect()`] does, with these limits.
///
/// # Errors
/// Those of [`connect()`].
pub async fn connect_with(path: impl AsRef<Path>, limits: LineLimits) -> io::Result<UnixTransport> {
    let path = path.as_ref();
    let transport = UnixTransport::new(UnixStream::connect(path).await?, limits);
    Ok(UnixTransport {
        server: Some(path.to_owned()),
        ..transport
    })
}
