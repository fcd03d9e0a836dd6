//! Transports, which carry messages to a peer and back.

mod channel;
mod connector;
mod inspect;

pub use self::channel::{ChannelReceiver, ChannelSender, ChannelTransport, channel};
pub use self::connector::Connector;
pub use self::inspect::{Inspect, MessageDirection, inspect};
pub use crate::error::{HttpFailure, ProcessExit, TransportError};
pub use crate::message::{
    Connection, Incoming, Intake, Outgoing, Principal, Purpose, Receiver, RelatedRequest, Restart, Sender, Transport,
};
pub use crate::session::{Exchange, Inbox};
