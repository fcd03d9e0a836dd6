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

/// The standard input.
pub(super) type Input = Stream<pipe::Receiver>;

/// The standard output.
pub(super) type Output = Stream<pipe::Sender>;

/// A stream whose reads and writes don't block.
#[derive(Debug)]
pub(super) struct Stream<P> {
    kind: Kind<P>,
    _blocking: Arc<Blocking>,
}

#[derive(Debug)]
enum Kind<P> {
    Pipe(P),
    /// Whatever its address family is.
    Socket(UnixStream),
}

/// Which of the standard streams, the input and the output, were blocking. They are so again when this is dropped.
///
/// The mode is one of the open file, which the streams may share with each other and with other processes.
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
        // A stream that has been closed needs no mode.
        let _ = fcntl_setfl(stream, flags - OFlags::NONBLOCK);
    }
}

/// The standard streams, each if the reactor can wait for it: a file is always ready, and the mode of a terminal is that of
/// the shell too.
///
/// # Panics
/// In a tokio runtime without I/O.
pub(super) fn streams() -> io::Result<(Option<super::Input>, Option<super::Output>)> {
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
    let input = input.map(|kind| Stream {
        kind,
        _blocking: Arc::clone(&blocking),
    });
    let output = output.map(|kind| Stream {
        kind,
        _blocking: blocking,
    });
    Ok((input.map(Into::into), output.map(Into::into)))
}

/// A pipe is opened again where the system can do that, as Linux can: the mode of the one that others have is left as it is.
fn open<P>(
    stream: impl AsFd,
    reopen: impl FnOnce() -> io::Result<P>,
    share: impl FnOnce(OwnedFd) -> io::Result<P>,
) -> io::Result<Option<Kind<P>>> {
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
        return Ok(Some(Kind::Pipe(pipe)));
    }
    if kind.is_socket() {
        let socket = net::UnixStream::from(OwnedFd::from(file));
        socket.set_nonblocking(true)?;
        return Ok(Some(Kind::Socket(UnixStream::from_std(socket)?)));
    }
    Ok(None)
}

impl AsyncRead for Input {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut self.kind {
            Kind::Pipe(pipe) => Pin::new(pipe).poll_read(cx, buffer),
            Kind::Socket(socket) => Pin::new(socket).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Output {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.kind {
            Kind::Pipe(pipe) => Pin::new(pipe).poll_write(cx, bytes),
            Kind::Socket(socket) => Pin::new(socket).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.kind {
            Kind::Pipe(pipe) => Pin::new(pipe).poll_write_vectored(cx, slices),
            Kind::Socket(socket) => Pin::new(socket).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // What is written isn't buffered here.
        Poll::Ready(Ok(()))
    }

    /// Its end is that of the process, as for other standard streams.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
