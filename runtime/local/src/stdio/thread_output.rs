//! The standard output, written by a separate thread, for streams that the reactor can't wait for.
//!
//! `tokio::io::stdout` would keep a runtime from shutting down while the peer doesn't read.

use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;
use tokio::sync::{mpsc, oneshot};

/// The maximum bytes that are written at once.
const CHUNK: usize = 64 * 1024;

/// Bytes to write, and the channel for the outcome of the write.
type Chunk = (Vec<u8>, oneshot::Sender<std::io::Result<()>>);

/// This process's standard output, of any kind.
#[derive(Debug)]
pub(super) struct ThreadOutput {
    chunks: mpsc::UnboundedSender<Chunk>,
    /// The outcome of the chunk that is being written. There is never more than one.
    written: Option<oneshot::Receiver<std::io::Result<()>>>,
}

impl ThreadOutput {
    pub(super) fn start() -> std::io::Result<Self> {
        let (chunks, mut receiver) = mpsc::unbounded_channel::<Chunk>();
        let write = move || {
            while let Some((chunk, written)) = receiver.blocking_recv() {
                let mut output = std::io::stdout().lock();
                let result = output.write_all(&chunk).and_then(|()| output.flush());
                // The receiver can have been dropped.
                let _ = written.send(result);
            }
        };
        std::thread::Builder::new().name("mcp-stdout".to_owned()).spawn(write)?;
        Ok(Self { chunks, written: None })
    }

    /// Waits until nothing is being written.
    fn poll_written(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        let Some(written) = &mut self.written else {
            return Poll::Ready(Ok(()));
        };
        let result = ready!(Pin::new(written).poll(cx));
        self.written = None;
        Poll::Ready(result.unwrap_or_else(|_| Err(std::io::ErrorKind::BrokenPipe.into())))
    }
}

impl AsyncWrite for ThreadOutput {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        ready!(self.poll_written(cx))?;
        let chunk = bytes.get(..CHUNK).unwrap_or(bytes);
        let (sender, written) = oneshot::channel();
        if self.chunks.send((chunk.to_vec(), sender)).is_err() {
            return Poll::Ready(Err(std::io::ErrorKind::BrokenPipe.into()));
        }
        self.written = Some(written);
        Poll::Ready(Ok(chunk.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.poll_written(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.poll_flush(cx)
    }
}
