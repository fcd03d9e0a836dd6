//! The standard input, read by a separate thread, for streams that the reactor can't wait for.
//!
//! `tokio::io::stdin` would keep a runtime from shutting down while the standard input is open.

use std::io::Read;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

/// This process's standard input, of any kind.
#[derive(Debug)]
pub(super) struct ThreadInput {
    chunks: mpsc::Receiver<std::io::Result<Vec<u8>>>,
    chunk: std::io::Cursor<Vec<u8>>,
}

impl ThreadInput {
    pub(super) fn start() -> std::io::Result<Self> {
        let (sender, chunks) = mpsc::channel(1);
        let read = move || {
            let mut input = std::io::stdin().lock();
            let mut buffer = vec![0; 64 * 1024];
            loop {
                let chunk = match input.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(read) => Ok(buffer.get(..read).unwrap_or_default().to_vec()),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let failed = chunk.is_err();
                if sender.blocking_send(chunk).is_err() || failed {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("mcp-stdin".to_owned()).spawn(read)?;
        let chunk = std::io::Cursor::default();
        Ok(Self { chunks, chunk })
    }
}

impl AsyncRead for ThreadInput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        loop {
            let position = usize::try_from(self.chunk.position()).unwrap_or(usize::MAX);
            let rest = self.chunk.get_ref().get(position..).unwrap_or_default();
            if !rest.is_empty() {
                let taken = rest.len().min(buffer.remaining());
                buffer.put_slice(rest.get(..taken).unwrap_or_default());
                self.chunk.set_position((position + taken) as u64);
                return Poll::Ready(Ok(()));
            }
            match ready!(self.chunks.poll_recv(cx)) {
                None => return Poll::Ready(Ok(())),
                Some(chunk) => self.chunk = std::io::Cursor::new(chunk?),
            }
        }
    }
}
