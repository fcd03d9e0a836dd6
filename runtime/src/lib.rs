//! Servers and clients of the Model Context Protocol, written once for peers of every revision.
//!
//! A handler is written against the types of the hub, [`mcp_adapters::hub`]. A session negotiates the revision with its
//! peer and converts every message on its way in and out, so that each peer hears what it expects; what a conversion
//! loses is reported. Nothing here knows a revision by name: what differs comes from the tables of `mcp-adapters`.

mod context;
mod error;
mod excerpt;
mod options;
mod pages;
mod peer;
#[cfg(feature = "router")]
pub mod router;
mod session;
mod side;
pub mod transport;

pub use http;
pub use mcp_adapters::handlers::{CallClient, CallServer, ClientHandler, Paginated, ServerHandler};
pub use mcp_adapters::mcp_wire::{ErrorObject, Invalid, error_code};
pub use mcp_adapters::{Loss, Revision, hub, mcp_wire};

pub use self::context::Context;
pub use self::error::{CallError, ConnectError};
pub use self::options::{FaultObserver, Limits, LossObserver, Options, Reading};
pub use self::peer::{Peer, PeerInfo, Progress};
#[cfg(feature = "router")]
pub use self::router::{IntoToolResult, Router, Structured};
pub use self::session::{ClientSession, ServerSession, Session, connect, serve};
pub use self::side::{ClientSide, ServerSide, Side};

/// The README's examples are compiled.
#[cfg(all(doctest, feature = "http-server", feature = "router", feature = "stdio"))]
#[doc = include_str!("../README.md")]
struct Readme;
