//! The standard output.

use std::io::IoSlice;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;

use super::thread_output::ThreadOutput;

/// This process's standard output.
#[derive(Debug)]
pub struct Output(Target);

#[derive(Debug)]
enum Target {
    #[cfg(unix)]
    Reactor(super::nonblocking::Output),
    Thread(ThreadOutput),
}

impl Output {
    pub(super) fn start() -> std::io::Result<Self> {
        Ok(Self(Target::Thread(ThreadOutput::start()?)))
    }

    fn stream(self: Pin<&mut Self>) -> Pin<&mut (dyn AsyncWrite + Unpin)> {
        match &mut self.get_mut().0 {
            #[cfg(unix)]
            Target::Reactor(output) => Pin::new(output),
            Target::Thread(output) => Pin::new(output),
        }
    }
}

#[cfg(unix)]
impl From<super::nonblocking::Output> for Output {
    fn from(output: super::nonblocking::Output) -> Self {
        Self(Target::Reactor(output))
    }
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.stream().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        self.stream().poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.0 {
            #[cfg(unix)]
            Target::Reactor(output) => output.is_write_vectored(),
            Target::Thread(output) => output.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.stream().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.stream().poll_shutdown(cx)
    }
}
