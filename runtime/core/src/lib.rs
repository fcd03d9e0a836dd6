#![doc = include_str!("../README.md")]
//!
//! # Layers
//!
//! From the bottom: `mcp-runtime-util` is independent of the protocol. [`Transport`](transport::Transport) is the
//! interface between a session and its transport; a session ([`serve()`], [`connect`]) uses only that interface. The
//! transports of `mcp-runtime-local` and `mcp-runtime-http`, and the router of `mcp-runtime-router`, are built on
//! these.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod canonical;
mod change;
mod client;
mod elicit_result;
mod era;
mod error;
mod expiring_map;
#[doc(hidden)]
pub mod internal;
mod message;
#[doc(hidden)]
pub mod mirrors;
mod options;
mod page;
mod rounds;
mod session;
mod side;
pub mod transport;

pub use http;
pub use mcp_adapters::handlers::{CallClient, CallServer, ClientHandler, Paginated, ServerHandler};
pub use mcp_adapters::mcp_wire::{ErrorObject, Invalid, UnknownMethod, error_code};
pub use mcp_adapters::session_messages::ChangeFilter;
pub use mcp_adapters::{Loss, Revision, hub, mcp_wire};

pub use self::change::Change;
pub use self::client::{Capable, Client, NotificationReturns};
pub use self::elicit_result::{accepted, declined, dismissed};
pub use self::era::Era;
pub use self::error::{CallError, ConnectError};
pub use self::options::{CacheLimits, Limits, LossObserver, Options, Validation, ViolationObserver};
pub use self::rounds::{Sealing, StateStore};
pub use self::session::{
    Changes, ClientSession, Context, Handler, HandlerResult, Layered, Middleware, Next, Peer, PeerInfo, Progress,
    Responder, ServeClient, ServerSession, Session, connect, discovery::Discovery, serve,
};
pub use self::side::{ClientSide, ServerSide, Side};
