//! Decodes and encodes the messages and results of a peer.

use mcp_wire::path::Segment;
use mcp_wire::{
    Batch, Decode, DecodeError, Decoded, Encode, ErrorObject, ErrorResponse, Message, Object, OpenJson, RequestId,
    error_code, from_slice, to_vec,
};

use crate::conversion::{Conversion, Convert, Policy};
use crate::loss::{AUTOMATIC, Loss, LossKind};
use crate::open::open;
use crate::revision::ProtocolRevision;
use crate::translated::{FromPeer, FromResult, Translated};
use crate::unrepresentable::Unrepresentable;

/// Decodes the messages of a peer of revision `peer`, and converts them to another revision.
///
/// # Errors
/// When the bytes aren't JSON, or a single message isn't valid in the revision `peer`.
pub fn read_messages<Q, N, Q2, N2, R: ProtocolRevision>(
    peer: R,
    json: &[u8],
    conversion: Conversion<R>,
) -> Decoded<Batch<Translated<Message<Q2, N2>>>>
where
    Q: Decode + Convert<Q2, R>,
    N: Decode + Convert<N2, R>,
{
    received(peer, json, |message: Message<Q, N>| {
        translated(message, conversion.clone())
    })
}

/// Decodes the messages of a peer of revision `peer` without a conversion.
///
/// # Errors
/// When the bytes aren't JSON, or a single message isn't valid in the revision `peer`.
pub fn read_same<Q: Decode, N: Decode, R: ProtocolRevision>(
    peer: R,
    json: &[u8],
) -> Decoded<Batch<Translated<Message<Q, N>>>> {
    received(peer, json, unchanged)
}

/// Converts a message to another revision, and encodes it.
pub fn encode_message<Q2: Object, N2: Object, Q, N, R>(
    message: Message<Q, N>,
    conversion: Conversion<R>,
) -> Translated<Vec<u8>>
where
    Q: Convert<Q2, R>,
    N: Convert<N2, R>,
{
    encoded(translated::<Q, N, Q2, N2, R>(message, conversion))
}

/// Encodes a message without a conversion.
pub fn encode_same<Q: Object, N: Object>(message: Message<Q, N>) -> Translated<Vec<u8>> {
    encoded(unchanged(message))
}

/// Decodes a result with `decode`, and converts it to another revision.
///
/// # Errors
/// When the JSON isn't a result of the method, or the other revision can't represent it.
pub fn read_result<S: Convert<T, R>, T, R>(
    decode: DecodeResult<S>,
    method: &str,
    result: &OpenJson,
    mut conversion: Conversion<R>,
) -> Result<Option<FromResult<T>>, FromPeer> {
    let Some(result) = decode(method, result)? else {
        return Ok(None);
    };
    let result = conversion.convert(result)?;
    let losses = conversion.into_losses();
    Ok(Some(FromResult { result, losses }))
}

/// Decodes the result of a method. `None` for an unknown method.
type DecodeResult<T> = fn(&str, &OpenJson) -> Decoded<Option<T>>;

/// Decodes a result without a conversion.
///
/// # Errors
/// When the JSON isn't a result of the method.
pub fn read_same_result<T>(
    decode: DecodeResult<T>,
    method: &str,
    result: &OpenJson,
) -> Result<Option<FromResult<T>>, FromPeer> {
    let losses = Vec::new();
    Ok(decode(method, result)?.map(|result| FromResult { result, losses }))
}

/// Decodes a value from a peer's description of itself, and converts it to another revision.
///
/// # Errors
/// When the JSON isn't an `S`, or the other revision can't represent it.
pub fn read_value<S: Decode + Convert<T, R>, T, R>(json: &OpenJson) -> Result<FromResult<T>, FromPeer> {
    let mut conversion = Conversion::<R>::new(Policy::Conform);
    let result = conversion.convert(json.decode_as::<S>()?)?;
    let losses = conversion.into_losses();
    Ok(FromResult { result, losses })
}

/// Decodes a value from a peer's description of itself without a conversion.
///
/// # Errors
/// When the JSON isn't a `T`.
pub fn read_same_value<T: Decode>(json: &OpenJson) -> Result<FromResult<T>, FromPeer> {
    let (result, losses) = (json.decode_as()?, Vec::new());
    Ok(FromResult { result, losses })
}

/// Converts a result to another revision, and serializes it.
///
/// # Errors
/// When the other revision can't represent the result.
pub fn encode_result<T: Encode, S: Convert<T, R>, R>(
    result: S,
    mut conversion: Conversion<R>,
) -> Result<(OpenJson, Vec<Loss>), Unrepresentable> {
    let result = open(&conversion.convert(result)?)?;
    Ok((result, conversion.into_losses()))
}

/// Encodes a result without a conversion.
///
/// # Errors
/// When the result has a number that JSON can't represent.
pub fn encode_same_result<T: Encode>(result: &T) -> Result<(OpenJson, Vec<Loss>), Unrepresentable> {
    Ok((open(result)?, Vec::new()))
}

/// Decodes a payload: a message, or a batch of messages where the revision has batches.
///
/// Each element of a batch has an outcome of its own, so only batches are parsed twice.
fn received<M: Decode, T, R: ProtocolRevision>(
    peer: R,
    json: &[u8],
    convert: impl Fn(M) -> Translated<T>,
) -> Decoded<Batch<Translated<T>>> {
    if json.trim_ascii_start().first() != Some(&b'[') {
        return Ok(Batch::One(convert(from_slice(json)?)));
    }
    let elements: Vec<OpenJson> = from_slice(json)?;
    let batches = peer.known_facts().batches;
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

/// The response to an invalid message.
fn malformed(json: &OpenJson, error: &DecodeError) -> ErrorResponse {
    let has = |member| json.get(member).is_some();
    // The id of a response is one of ours. An error with this id would be taken for the response to another request.
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

fn unchanged<M>(message: M) -> Translated<M> {
    Translated::Message {
        message,
        losses: Vec::new(),
    }
}

/// Converts a message to another revision.
fn translated<Q, N, Q2, N2, R>(message: Message<Q, N>, mut conversion: Conversion<R>) -> Translated<Message<Q2, N2>>
where
    Q: Convert<Q2, R>,
    N: Convert<N2, R>,
{
    let asked: Option<Option<RequestId>> = match &message {
        Message::Request(call) => Some(Some(call.id.clone())),
        Message::Notification(_) => None,
        Message::Response(_) | Message::Error(_) => Some(None),
    };
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

/// Encodes a message.
fn encoded<Q: Object, N: Object>(message: Translated<Message<Q, N>>) -> Translated<Vec<u8>> {
    match message {
        Translated::Message { message, losses } => match to_vec(&message) {
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
