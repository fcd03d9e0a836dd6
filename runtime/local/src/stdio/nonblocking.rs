//! Standard streams that the reactor of the tokio runtime reads and writes: pipes and sockets.

use std::fs::File;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio_util::either::Either;

use super::{Input, Output};

/// A pipe, or a socket of any address family, whose reads and writes don't block.
#[derive(Debug)]
struct Stream<P> {
    stream: Either<P, UnixStream>,
    _blocking: Arc<Blocking>,
}

/// Whether the standard input and the standard output were blocking. Dropping this restores that mode.
///
/// The mode belongs to the open file, which the streams can share with each other and with other processes.
#[derive(Debug)]
struct Blocking([bool; 2]);

impl Blocking {
    fn now() -> Self {
        Self([is_blocking(io::stdin()), is_blocking(io::stdout())])
    }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        let Self([input, output]) = *self;
        if input {
            set_blocking(io::stdin());
        }
        if output {
            set_blocking(io::stdout());
        }
    }
}

fn is_blocking(stream: impl AsFd) -> bool {
    fcntl_getfl(stream).is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK))
}

fn set_blocking(stream: impl AsFd) {
    if let Ok(flags) = fcntl_getfl(&stream)
        && flags.contains(OFlags::NONBLOCK)
    {
        // If this fails, the stream is closed, and the mode doesn't matter.
        let _ = fcntl_setfl(stream, flags - OFlags::NONBLOCK);
    }
}

/// Returns the standard streams, each only if it is a pipe or a socket, for which the reactor can wait: a file is
/// always ready, and a terminal shares its mode with the shell.
///
/// # Panics
/// In a tokio runtime without I/O.
pub(super) fn streams() -> io::Result<(Option<Input>, Option<Output>)> {
    if tokio::runtime::Handle::try_current().is_err() {
        return Ok((None, None));
    }
    let blocking = Arc::new(Blocking::now());
    let input = open(
        io::stdin(),
        || pipe::OpenOptions::new().open_receiver("/proc/self/fd/0"),
        pipe::Receiver::from_owned_fd,
    )?;
    let output = open(
        io::stdout(),
        || pipe::OpenOptions::new().open_sender("/proc/self/fd/1"),
        pipe::Sender::from_owned_fd,
    )?;
    let input = input.map(|stream| {
        let _blocking = Arc::clone(&blocking);
        Input::new(Stream { stream, _blocking })
    });
    let output = output.map(|stream| {
        let _blocking = blocking;
        Output::new(Stream { stream, _blocking })
    });
    Ok((input, output))
}

/// Opens a stream as non-blocking. On Linux, a pipe is opened again, so that the mode of the original, which others can
/// share, doesn't change.
fn open<P>(
    stream: impl AsFd,
    reopen: impl FnOnce() -> io::Result<P>,
    share: impl FnOnce(OwnedFd) -> io::Result<P>,
) -> io::Result<Option<Either<P, UnixStream>>> {
    let file = File::from(stream.as_fd().try_clone_to_owned()?);
    let kind = file.metadata()?.file_type();
    if kind.is_fifo() {
        let reopened = match cfg!(target_os = "linux") {
            true => reopen().ok(),
            false => None,
        };
        let pipe = match reopened {
            Some(pipe) => pipe,
            None => share(file.into())?,
        };
        return Ok(Some(Either::Left(pipe)));
    }
    if kind.is_socket() {
        let socket = net::UnixStream::from(OwnedFd::from(file));
        socket.set_nonblocking(true)?;
        return Ok(Some(Either::Right(UnixStream::from_std(socket)?)));
    }
    Ok(None)
}

impl<P: AsyncRead + Unpin> AsyncRead for Stream<P> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<P: AsyncWrite + Unpin> AsyncWrite for Stream<P> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
