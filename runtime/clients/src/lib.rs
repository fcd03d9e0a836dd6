//! Clients that reconnect, and clients of many servers.
//!
//! [`ReconnectingClient`] is a client of one server that starts a new session when the old one is lost. [`Clients`]
//! combines clients of several servers, such as those of a host's file ([`ServersFile`]).

#![cfg_attr(docsrs, feature(doc_cfg))]

mod backoff;
mod changes;
mod clients;
mod file;
mod following;
mod links;
mod listed;
mod names;
mod owners;
mod reconnecting;
mod responsiveness;
mod server;
mod transport;

pub use self::backoff::Backoff;
pub use self::changes::FollowedChanges;
pub use self::clients::{Clients, Failure, Merged};
pub use self::file::{FileError, ServersFile, expanded};
#[doc(hidden)]
pub use self::following::{Followed, Follower};
pub use self::names::{NameError, Names, Naming};
pub use self::reconnecting::ReconnectingClient;
#[doc(hidden)]
pub use self::responsiveness::Responsiveness;
pub use self::server::{HttpServerConfig, ProcessConfig, ServerConfig};
pub use self::transport::{ServerReceiver, ServerSender, ServerTransport};
