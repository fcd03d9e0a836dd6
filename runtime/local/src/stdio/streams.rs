//! The standard streams of this process, independent of how they are read and written.

use std::fmt::Debug;
use std::io::IoSlice;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// This process's standard input.
#[derive(Debug)]
pub struct Input(Box<dyn Read>);

/// This process's standard output.
#[derive(Debug)]
pub struct Output(Box<dyn Write>);

pub(super) trait Read: AsyncRead + Debug + Send + Sync + Unpin + 'static {}
pub(super) trait Write: AsyncWrite + Debug + Send + Sync + Unpin + 'static {}

impl<R: AsyncRead + Debug + Send + Sync + Unpin + 'static> Read for R {}
impl<W: AsyncWrite + Debug + Send + Sync + Unpin + 'static> Write for W {}

impl Input {
    pub(super) fn new(reader: impl Read) -> Self {
        Self(Box::new(reader))
    }
}

impl Output {
    pub(super) fn new(writer: impl Write) -> Self {
        Self(Box::new(writer))
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Output {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    /// Only flushes: like other standard streams, it is closed when the process exits.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.poll_flush(cx)
    }
}
