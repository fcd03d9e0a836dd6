//! Messages as lines of JSON, over named pipes of Windows.
//!
//! A server [listens](NamedPipeListener) at the name of a pipe, and [`serve`] runs a session with each client that
//! [connects](connect()). The messages have the same format as over standard streams. On this machine, Windows lets
//! this user, administrators and the system read from the pipe and write to it.

mod listener;
mod transport;

pub use self::listener::{NamedPipeListener, Serve, serve};
pub use self::transport::{NamedPipeServerTransport, NamedPipeTransport, connect, connect_with};
