//! What becomes of messages and results between peers of different revisions.

use mcp_wire::{DecodeError, ErrorObject, ErrorResponse};

use crate::loss::Loss;
use crate::unrepresentable::Unrepresentable;

/// What became of one message.
#[derive(Debug, Clone, PartialEq)]
pub enum Translated<M> {
    /// The message in the other revision, and what it lost.
    Message {
        /// The message.
        message: M,
        /// What it lost.
        losses: Vec<Loss>,
    },
    /// A request that the other revision can't represent, or what is no message: it isn't sent on, and this is the
    /// answer to it.
    Refused(ErrorResponse),
    /// A notification that the other revision can't represent: it isn't sent on, and nobody is told.
    Dropped {
        /// The notification as a loss.
        losses: Vec<Loss>,
        /// Why.
        reason: Unrepresentable,
    },
}

/// A result in the other revision.
#[derive(Debug, Clone, PartialEq)]
pub struct FromResult<T> {
    /// The result.
    pub result: T,
    /// What it lost.
    pub losses: Vec<Loss>,
}

/// A result from a peer that can't be had in the other revision.
#[derive(Debug, Clone, PartialEq)]
pub enum FromPeer {
    /// It isn't what the peer's revision says.
    Invalid(DecodeError),
    /// The other revision can't represent it.
    Unrepresentable(Unrepresentable),
}

impl From<DecodeError> for FromPeer {
    fn from(error: DecodeError) -> Self {
        Self::Invalid(error)
    }
}

impl From<Unrepresentable> for FromPeer {
    fn from(error: Unrepresentable) -> Self {
        Self::Unrepresentable(error)
    }
}

impl std::fmt::Display for FromPeer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Invalid(error) => error.fmt(f),
            Self::Unrepresentable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FromPeer {}

impl<M> Translated<M> {
    /// The error that a refused request is answered with.
    #[must_use]
    pub fn refusal(&self) -> Option<&ErrorObject> {
        match self {
            Self::Refused(response) => Some(&response.error),
            _ => None,
        }
    }
}
