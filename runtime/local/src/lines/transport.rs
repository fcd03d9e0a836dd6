//! Messages as lines of JSON.

use mcp_runtime_core::mcp_wire::{ErrorObject, Payload, error_code};
use mcp_runtime_core::transport::{Incoming, Receiver, Transport, TransportError};
use mcp_runtime_util::excerpt;
use tokio::io::{AsyncRead, AsyncWrite};

use super::reader::{Line, LineReader};
use super::writer::LineSender;

/// The limits of a [`LineTransport`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineLimits {
    /// The maximum bytes of a message. A longer one is refused without holding it in memory as a whole.
    pub message_bytes: usize,
}

impl Default for LineLimits {
    /// Messages of 16 MiB.
    fn default() -> Self {
        Self {
            message_bytes: 16 * 1024 * 1024,
        }
    }
}

impl LineLimits {
    /// Sets the maximum bytes of a message.
    #[must_use]
    pub fn message_bytes(mut self, bytes: usize) -> Self {
        self.message_bytes = bytes;
        self
    }
}

/// A transport whose messages are lines of JSON, over any two streams.
#[derive(Debug)]
pub struct LineTransport<R, W> {
    sender: LineSender<W>,
    receiver: LineReceiver<R>,
}

/// The half of a [`LineTransport`] that receives.
#[derive(Debug)]
pub struct LineReceiver<R>(LineReader<R>);

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    /// Creates a transport over these two streams.
    pub fn new(reader: R, writer: W, limits: LineLimits) -> Self {
        let lines = LineReader::new(reader, limits.message_bytes);
        Self {
            sender: LineSender::new(writer, lines.in_burst()),
            receiver: LineReceiver(lines),
        }
    }
}

impl<R, W> Transport for LineTransport<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Sender = LineSender<W>;
    type Receiver = LineReceiver<R>;

    fn split(self) -> (LineSender<W>, LineReceiver<R>) {
        (self.sender, self.receiver)
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Receiver for LineReceiver<R> {
    async fn receive(&mut self) -> Result<Option<Incoming>, TransportError> {
        loop {
            let (code, reason, text) = match self.0.next().await? {
                None => return Ok(None),
                Some(Line::Whole(line) | Line::Last(line)) if line.iter().all(u8::is_ascii_whitespace) => continue,
                // The peer has ended while it wrote a message. If it is a response, its call fails because of the end.
                Some(Line::Last(line)) if Payload::from_slice(&line).is_err() => {
                    let reason = format!("the last message is cut: {}", excerpt(&line));
                    (error_code::PARSE_ERROR, reason, Vec::new())
                }
                Some(Line::Whole(line) | Line::Last(line)) => return Ok(Some(Incoming::message(line))),
                Some(Line::TooLong(line)) => {
                    let reason = format!("a message has more than {} bytes", self.0.limit());
                    (error_code::INVALID_REQUEST, reason, line)
                }
            };
            let error = ErrorObject::new(code, reason);
            return Ok(Some(Incoming::Refused { error, text }));
        }
    }

    /// The streams end independently: after `printf … | server`, the client still reads the responses.
    fn half_closes(&self) -> bool {
        true
    }
}
