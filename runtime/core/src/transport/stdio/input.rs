//! The standard input.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

use super::thread_input::ThreadInput;

/// This process's standard input.
#[derive(Debug)]
pub struct Input(Source);

#[derive(Debug)]
enum Source {
    #[cfg(unix)]
    Reactor(super::nonblocking::Input),
    Thread(ThreadInput),
}

impl Input {
    pub(super) fn start() -> std::io::Result<Self> {
        Ok(Self(Source::Thread(ThreadInput::start()?)))
    }
}

#[cfg(unix)]
impl From<super::nonblocking::Input> for Input {
    fn from(input: super::nonblocking::Input) -> Self {
        Self(Source::Reactor(input))
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        match &mut self.0 {
            #[cfg(unix)]
            Source::Reactor(input) => Pin::new(input).poll_read(cx, buffer),
            Source::Thread(input) => Pin::new(input).poll_read(cx, buffer),
        }
    }
}
