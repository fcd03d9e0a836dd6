//! The outcomes of converting messages and results between peers of different revisions.

use mcp_wire::{DecodeError, ErrorObject, ErrorResponse};

use crate::loss::Loss;
use crate::unrepresentable::Unrepresentable;

/// The outcome of converting one message.
#[derive(Debug, Clone, PartialEq)]
pub enum Translated<M> {
    /// The message in the other revision.
    Message {
        /// The message.
        message: M,
        /// The losses of the conversion.
        losses: Vec<Loss>,
    },
    /// The error response to an invalid message, or to a request that the other revision can't represent. The message
    /// isn't sent on.
    Refused(ErrorResponse),
    /// A notification that the other revision can't represent. It isn't sent on, and there is no response.
    Dropped {
        /// The notification as a loss.
        losses: Vec<Loss>,
        /// The reason.
        reason: Unrepresentable,
    },
}

/// A result in the other revision.
#[derive(Debug, Clone, PartialEq)]
pub struct FromResult<T> {
    /// The result.
    pub result: T,
    /// The losses of the conversion.
    pub losses: Vec<Loss>,
}

/// The error of a result from a peer that can't be decoded or converted.
#[derive(Debug, Clone, PartialEq)]
pub enum FromPeer {
    /// The result isn't valid in the peer's revision.
    Invalid(DecodeError),
    /// The other revision can't represent the result.
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
    /// Returns the error of the response to a refused request.
    #[must_use]
    pub fn refusal(&self) -> Option<&ErrorObject> {
        match self {
            Self::Refused(response) => Some(&response.error),
            _ => None,
        }
    }
}
