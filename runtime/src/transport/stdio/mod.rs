//! Messages as lines of JSON: over this process's own standard input and output, a child's, or any pair of streams.

mod child;
mod input;
mod lines;
mod output;
mod writer;

use mcp_adapters::mcp_wire::{ErrorObject, error_code};
use tokio::io::{AsyncRead, AsyncWrite};

use self::lines::{Line, Lines};
use self::writer::Writer;
use crate::error::TransportError;
use crate::excerpt::excerpt;
use crate::message::{Incoming, Outgoing, Receiver, Sender, Transport};

pub use child::{ChildReceiver, ChildSender, ChildTransport, SpawnError, SpawnOptions, spawn};
pub use input::Input;
pub use output::Output;

/// How much a transport of lines takes from its peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The bytes that one message may have. A longer one is refused, and never held as a whole.
    pub message_bytes: usize,
}

impl Default for Limits {
    /// Messages of 16 MiB.
    fn default() -> Self {
        Self {
            message_bytes: 16 * 1024 * 1024,
        }
    }
}

impl Limits {
    /// The same limits, but for the bytes that one message may have.
    #[must_use]
    pub fn message_bytes(mut self, bytes: usize) -> Self {
        self.message_bytes = bytes;
        self
    }
}

/// A connection whose messages are lines.
#[derive(Debug)]
pub struct LineTransport<R, W> {
    sender: LineSender<W>,
    receiver: LineReceiver<R>,
}

/// The half of a [`LineTransport`] that sends.
#[derive(Debug)]
pub struct LineSender<W>(Writer<W>);

/// The half of a [`LineTransport`] that receives.
#[derive(Debug)]
pub struct LineReceiver<R>(Lines<R>);

/// A server's connection to the client that started it: this process's own standard input and output.
///
/// Nothing else may be printed to the standard output meanwhile. Neither stream keeps a tokio runtime from ending: a
/// process can end while its peer sends nothing and reads nothing.
///
/// # Errors
/// When the threads that read and write can't be started.
pub fn own(limits: Limits) -> std::io::Result<LineTransport<Input, Output>> {
    Ok(over(Input::start()?, Output::start()?, limits))
}

/// A connection over any two streams.
pub fn over<R, W>(reader: R, writer: W, limits: Limits) -> LineTransport<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    LineTransport {
        sender: LineSender(Writer::new(writer)),
        receiver: LineReceiver(Lines::new(reader, limits.message_bytes)),
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

impl<W: AsyncWrite + Unpin + Send + 'static> Sender for LineSender<W> {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        self.0.write(message.json).await
    }

    async fn close(&self) {
        self.0.close().await;
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Receiver for LineReceiver<R> {
    async fn receive(&mut self) -> Result<Option<Incoming>, TransportError> {
        loop {
            let line = match self.0.next().await? {
                None => return Ok(None),
                Some(Line::Whole(line)) => line,
                Some(Line::TooLong(line)) => {
                    let (limit, line) = (self.0.limit(), excerpt(&line));
                    let text = format!("a message has more than {limit} bytes: {line}");
                    return Ok(Some(refused(error_code::INVALID_REQUEST, text)));
                }
            };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            return Ok(Some(match std::str::from_utf8(&line) {
                Ok(_) => Incoming::message(line),
                Err(error) => {
                    let text = format!("a message isn't UTF-8: {error}: {}", excerpt(&line));
                    refused(error_code::PARSE_ERROR, text)
                }
            }));
        }
    }

    /// Each stream has its own end: `printf … | server` wants its answers.
    fn half_closes(&self) -> bool {
        true
    }
}

fn refused(code: i64, message: String) -> Incoming {
    Incoming::Refused(ErrorObject::new(code, message))
}
