//! Messages as lines of JSON, over the standard input and output of this process or of a child process.

mod child;
mod input;
mod line_reader;
mod line_transport;
mod line_writer;
mod output;

pub use self::child::{ChildReceiver, ChildSender, ChildTransport, SpawnError, SpawnOptions, spawn};
pub use self::input::Input;
pub use self::line_transport::{LineLimits, LineReceiver, LineSender, LineTransport};
pub use self::output::Output;

/// The transport over the standard input and output of this process, for a server that its client has started.
///
/// Nothing else may be written to the standard output. Neither stream keeps a tokio runtime from ending: the process can
/// end while its client sends nothing and reads nothing.
///
/// # Errors
/// When the threads that read and write can't be started.
pub fn stdio(limits: LineLimits) -> std::io::Result<LineTransport<Input, Output>> {
    Ok(LineTransport::new(Input::start()?, Output::start()?, limits))
}
