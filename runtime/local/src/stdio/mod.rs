//! Messages as lines of JSON, over the standard input and output of this process or of a child process.

mod child;
#[cfg(unix)]
mod nonblocking;
#[cfg_attr(windows, path = "process_windows.rs")]
mod process;
mod streams;
mod thread_input;
mod thread_output;

pub use self::child::{ChildReceiver, ChildSender, ChildTransport, SpawnError, SpawnOptions, command, spawn};
pub use self::streams::{Input, Output};
pub use crate::lines::{LineLimits, LineReceiver, LineSender, LineTransport};

use self::thread_input::ThreadInput;
use self::thread_output::ThreadOutput;

/// Returns the transport over the standard input and output of this process, for a server that its client has started.
///
/// Nothing else may write to the standard output or read the standard input. Neither stream keeps a tokio runtime from
/// shutting down: the process can exit while its client neither sends nor reads.
///
/// On Unix, the runtime itself waits for streams that are pipes or sockets. Other streams, such as files and terminals,
/// get a thread each; so does every stream on Windows, and when this is called outside of a tokio runtime.
///
/// A socket is non-blocking until the transport is dropped, and so is a pipe on systems other than Linux. That also
/// affects other users of the same open socket or pipe, such as a standard error that is redirected to it: their writes
/// can fail with [`WouldBlock`](std::io::ErrorKind::WouldBlock), which makes [`eprintln!`] panic. A process that exits
/// without dropping the transport, by [`std::process::exit`], leaves the socket or pipe non-blocking.
///
/// # Errors
/// When the streams can't be opened, or the threads can't be started.
///
/// # Panics
/// When a stream is a pipe or a socket, and the tokio runtime has its I/O disabled.
pub fn stdio() -> std::io::Result<LineTransport<Input, Output>> {
    stdio_with(LineLimits::default())
}

/// Returns the transport over the standard streams, like [`stdio()`], with these limits.
///
/// # Errors
/// Those of [`stdio()`].
///
/// # Panics
/// Those of [`stdio()`].
pub fn stdio_with(limits: LineLimits) -> std::io::Result<LineTransport<Input, Output>> {
    #[cfg(unix)]
    let (input, output) = nonblocking::streams()?;
    #[cfg(not(unix))]
    let (input, output) = (None, None);
    let input = match input {
        Some(input) => input,
        None => Input::new(ThreadInput::start()?),
    };
    let output = match output {
        Some(output) => output,
        None => Output::new(ThreadOutput::start()?),
    };
    Ok(LineTransport::new(input, output, limits))
}
