//! Messages as lines of JSON, over Unix domain sockets.
//!
//! A server [listens](UnixListener) at the path of a socket, and [`serve`] has a session with each client that [connects](connect()).
//! The messages are those of standard streams. Who may connect is a matter of the file's mode.

mod listener;
mod serve;
mod transport;

pub use self::listener::UnixListener;
pub use self::serve::{Serve, serve};
pub use self::transport::{UnixReceiver, UnixSender, UnixTransport, connect, connect_with};
