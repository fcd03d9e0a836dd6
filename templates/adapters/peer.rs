//! What becomes of messages between peers of different revisions.

use mcp_wire::serde::Serialize;
use mcp_wire::serde_json;
use mcp_wire::{DecodeError, ErrorObject, ErrorResponse, Message, Object, OpenJson, RequestId, error_code};

use crate::conversion::{AUTOMATIC, Conversion, Convert, Loss, LossKind, Policy, Unrepresentable};

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
    /// A request that the other revision can't represent: it isn't sent on, and this is the answer to it.
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

/// A message that is of the same revision on both sides.
pub(crate) fn same<M>(message: M, _: Policy) -> Translated<M> {
    Translated::Message {
        message,
        losses: Vec::new(),
    }
}

/// A message in another revision.
pub(crate) fn translated<Q, N, T>(message: Message<Q, N>, policy: Policy) -> Translated<T>
where
    Message<Q, N>: Convert<T>,
{
    let asked: Option<Option<RequestId>> = match &message {
        Message::Request(call) => Some(Some(call.id.clone())),
        Message::Notification(_) => None,
        Message::Response(_) | Message::Error(_) => Some(None),
    };
    let mut conversion = Conversion::new(policy);
    match (message.convert(&mut conversion), asked) {
        (Ok(message), _) => Translated::Message {
            message,
            losses: conversion.into_losses(),
        },
        (Err(error), Some(id)) => Translated::Refused(ErrorResponse::new(
            id,
            ErrorObject::new(error.code(), error.to_string()),
        )),
        (Err(reason), None) => {
            conversion.lose(LossKind::Dropped, AUTOMATIC);
            Translated::Dropped {
                losses: conversion.into_losses(),
                reason,
            }
        }
    }
}

/// A message as the bytes that are sent.
pub(crate) fn encoded<Q: Object, N: Object>(message: Translated<Message<Q, N>>) -> Translated<Vec<u8>> {
    match message {
        Translated::Message { message, losses } => match serde_json::to_vec(&message) {
            Ok(message) => Translated::Message { message, losses },
            Err(error) => {
                let error = ErrorObject::new(error_code::INTERNAL_ERROR, error.to_string());
                Translated::Refused(ErrorResponse::new(None, error))
            }
        },
        Translated::Refused(response) => Translated::Refused(response),
        Translated::Dropped { losses, reason } => Translated::Dropped { losses, reason },
    }
}

/// A result as the JSON that is sent.
pub(crate) fn encoded_result<T: Serialize>(result: &T) -> Result<OpenJson, Unrepresentable> {
    crate::conversion::open(result)
}

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
