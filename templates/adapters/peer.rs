//! What becomes of messages between peers of different revisions.

use mcp_wire::path::Segment;
use mcp_wire::serde_json;
use mcp_wire::{
    Batch, Decode, DecodeError, Decoded, ErrorObject, ErrorResponse, Message, Object, OpenJson, RequestId, error_code,
    from_slice,
};

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

/// Each message of what a peer sent at once, which is several where its revision has batches.
///
/// Only an array is looked at twice: each element of it has an outcome of its own.
pub(crate) fn received<M: Decode, T>(
    json: &[u8],
    batches: bool,
    convert: impl Fn(M) -> Translated<T>,
) -> Decoded<Batch<Translated<T>>> {
    if json.trim_ascii_start().first() != Some(&b'[') {
        return Ok(Batch::One(convert(from_slice(json)?)));
    }
    let elements: Vec<OpenJson> = from_slice(json)?;
    if !batches || elements.is_empty() {
        let because = if batches {
            "an empty batch has no message"
        } else {
            "the revision has no batches"
        };
        let error = ErrorObject::new(error_code::INVALID_REQUEST, because);
        return Ok(Batch::One(Translated::Refused(ErrorResponse::new(None, error))));
    }
    let outcome = |element: &OpenJson| match element.decode_as() {
        Ok(message) => convert(message),
        Err(error) => Translated::Refused(malformed(element, &error)),
    };
    Ok(Batch::Many(elements.iter().map(outcome).collect()))
}

/// The answer to what is no message.
fn malformed(json: &OpenJson, error: &DecodeError) -> ErrorResponse {
    let has = |member| json.get(member).is_some();
    // The id of an answer is one of ours: an error with it would be taken for the answer to another request.
    let is_answer = !has("method") && (has("result") || has("error"));
    let id = json.get("id").filter(|_| !is_answer);
    let id: Option<RequestId> = id.and_then(|id| id.decode_as().ok());
    let in_params = error.path().segments().first() == Some(&Segment::Member("params".to_owned()));
    let code = if in_params && id.is_some() {
        error_code::INVALID_PARAMS
    } else {
        error_code::INVALID_REQUEST
    };
    ErrorResponse::new(id, ErrorObject::new(code, error.to_string()))
}

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
