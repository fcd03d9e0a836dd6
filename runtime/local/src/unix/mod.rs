//! Messages as lines of JSON, over Unix domain sockets.
//!
//! A server [listens](UnixListener) at the path of a socket, and [`serve`] runs a session with each client that
//! [connects](connect()). The messages have the same format as over standard streams. The mode of the socket's file
//! determines who can connect.

mod listener;
mod serve;
mod transport;

pub use self::listener::UnixListener;
pub use self::serve::{Serve, serve};
pub use self::transport::{UnixReceiver, UnixSender, UnixTransport, connect, connect_with};
