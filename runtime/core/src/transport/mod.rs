//! Transports: how messages get to a peer and back.

pub(crate) mod channel;
mod connector;
#[cfg(any(feature = "stdio", all(feature = "unix", unix), all(feature = "named-pipe", windows)))]
mod lines;
#[cfg(all(feature = "named-pipe", windows))]
pub mod named_pipe;
#[cfg(any(all(feature = "unix", unix), all(feature = "named-pipe", windows)))]
mod serve;
#[cfg(feature = "stdio")]
pub mod stdio;
#[cfg(all(feature = "unix", unix))]
pub mod unix;
mod watched;

pub use self::channel::{ChannelReceiver, ChannelSender, ChannelTransport, channel};
pub use self::connector::Connector;
#[cfg(any(feature = "stdio", all(feature = "unix", unix), all(feature = "named-pipe", windows)))]
pub use self::lines::{LineLimits, LineReceiver, LineSender, LineTransport};
#[cfg(any(all(feature = "unix", unix), all(feature = "named-pipe", windows)))]
pub use self::serve::{Accept, Serve};
#[cfg(feature = "stdio")]
pub use self::stdio::stdio;
pub use self::watched::{MessageDirection, Watched, watched};
pub use crate::error::{HttpFailure, ProcessExit, TransportError};
pub use crate::message::{Connection, Incoming, Outgoing, Principal, Purpose, Receiver, Restart, Sender, Transport};
pub use crate::session::{Exchange, Inbox};
