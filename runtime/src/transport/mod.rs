//! Ways to a peer: messages of JSON in, messages of JSON out.

mod channel;
mod exit;
mod failure;
#[cfg(any(feature = "http-client", feature = "http-server"))]
pub mod http;
#[cfg(feature = "stdio")]
pub mod stdio;
mod watched;

use std::future::Future;

use ::http::Extensions;
use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{ErrorObject, RequestId};

use crate::error::CallError;

pub use channel::{ChannelReceiver, ChannelSender, ChannelTransport, channel};
pub use exit::ProcessExit;
pub use failure::HttpFailure;
pub use watched::{Watched, Way, watched};

/// A connection to one peer.
///
/// Sending and receiving happen at the same time, and so a transport comes apart into two halves.
pub trait Transport: Send + 'static {
    /// The half that sends.
    type Sender: Sender;
    /// The half that receives.
    type Receiver: Receiver;

    /// Both halves.
    fn split(self) -> (Self::Sender, Self::Receiver);
}

/// The half of a transport that sends.
pub trait Sender: Send + Sync + 'static {
    /// Sends a message, and waits until the peer may have it: a peer that doesn't read makes its senders wait.
    fn send(&self, message: Outgoing) -> impl Future<Output = Result<(), TransportError>> + Send;

    /// Is told that these requests of the peer won't be answered, because they were cancelled or for want of an answer.
    fn unanswered(&self, ids: &[RequestId]) {
        let _ = ids;
    }

    /// Is told which revision the peers have agreed upon.
    fn negotiated(&self, revision: Revision) {
        let _ = revision;
    }

    /// Ends the connection: the peer is told in whatever way the transport has.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// The half of a transport that receives.
pub trait Receiver: Send + 'static {
    /// Waits for the next message; `None` once the peer has ended the connection.
    ///
    /// It must be safe to drop the future before it is done: no message may get lost.
    fn receive(&mut self) -> impl Future<Output = Result<Option<Incoming>, TransportError>> + Send;

    /// Whether a peer that has ended its half of the connection may still read what it is sent.
    fn half_closes(&self) -> bool {
        false
    }
}

/// A message to the peer.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// One JSON value, without line breaks.
    pub json: Vec<u8>,
    /// What it is about, for transports that have more than one way to the peer.
    pub purpose: Purpose,
}

/// What a message to the peer is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// It answers these requests of the peer.
    Answer(Vec<RequestId>),
    /// It is sent while this request of the peer is handled.
    During(RequestId),
    /// It is sent of one's own accord.
    Own,
}

/// What came from the peer.
#[derive(Debug, Clone)]
pub enum Incoming {
    /// A message.
    Message {
        /// Bytes that should be one JSON value.
        json: Vec<u8>,
        /// What the transport knows about the message, for handlers. The HTTP server puts the
        /// [`Parts`](::http::request::Parts) of the request there that carried it.
        extensions: Extensions,
    },
    /// Something that the transport refuses, such as a message over the limit. The session goes on, and tells the peer if
    /// its revision has an error for that.
    Refused(ErrorObject),
    /// A request to the peer will have no answer.
    Failed {
        /// The id of the request.
        id: RequestId,
        /// Why there is none.
        error: CallError,
    },
    /// The peer has forgotten the session, and another has begun in its place: nobody waits any more for the answers to
    /// what came before this.
    Renewed,
}

impl Incoming {
    /// A message about which the transport knows nothing more.
    #[must_use]
    pub fn message(json: Vec<u8>) -> Self {
        let extensions = Extensions::new();
        Self::Message { json, extensions }
    }
}

/// Why a transport can't go on.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The peer is gone.
    #[error("the connection is closed")]
    Closed,
    /// The peer was a process of ours, and has ended.
    #[error("{0}")]
    Exited(ProcessExit),
    /// The operating system says no.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Something that only this transport knows.
    #[error("{0}")]
    Other(Box<dyn std::error::Error + Send + Sync>),
}
