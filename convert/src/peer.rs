//! Decodes and encodes the messages and results of a peer.

use mcp_wire::path::Segment;
use mcp_wire::{
    Batch, Decode, DecodeError, Decoded, Encode, EncodeError, ErrorObject, ErrorResponse, KnownJson, Message,
    MessageHeader, MessageKind, Object, RawJson, Reader, RequestId, Validate, error_code, from_slice, from_str,
    push_value, to_string, to_vec,
};

use crate::conversion::Conversion;
use crate::engine::Failed;
use crate::loss::{AUTOMATIC, Loss, LossKind};
use crate::policy::Policy;
use crate::revision::ProtocolRevision;
use crate::tables::Role;
use crate::translated::{FromPeer, FromResult, Translated};
use crate::unrepresentable::Unrepresentable;

/// Decodes the messages of a peer of revision `peer`, which has the role `role`, and converts them to the hub.
///
/// # Errors
/// When the bytes aren't JSON, or a single message isn't valid in the revision `peer`.
pub fn read_messages<Q: Decode, N: Decode, R: ProtocolRevision>(
    peer: R,
    role: Role,
    json: &[u8],
    conversion: Conversion<R>,
) -> Decoded<Batch<Translated<Message<Q, N>>>> {
    received(peer, json, |json| match peer == R::HUB {
        true => from_slice(json).map(unchanged),
        false => read_message(peer, role, &MessageHeader::from_slice(json)?, conversion.clone()),
    })
}

/// Decodes one message of a peer whose header has been read, and converts it to the hub.
///
/// # Errors
/// When it isn't valid in the revision `peer`.
pub fn read_message<Q: Decode, N: Decode, R: ProtocolRevision>(
    peer: R,
    role: Role,
    header: &MessageHeader<'_>,
    mut conversion: Conversion<R>,
) -> Decoded<Translated<Message<Q, N>>> {
    // The result of a response isn't converted, because that requires the method of the request.
    if peer == R::HUB || matches!(header.kind()?, MessageKind::Response | MessageKind::Error) {
        return header.decode().map(unchanged);
    }
    let converted = match R::protocol().chain(peer.index(), R::HUB.index()) {
        Ok(chain) => chain.message_of(role, header, &mut conversion.state),
        Err(error) => Err(error.into()),
    };
    match converted {
        Ok(node) => {
            let json = node.to_known(&conversion.state.places);
            let mut reader = conversion.state.reader(&json);
            if node.starts_like_source(header.params()) {
                reader = header.give_envelope(reader);
            }
            Ok(Translated::Message {
                message: reader.decode()?,
                losses: conversion.into_losses(),
            })
        }
        Err(Failed::Invalid(error)) => Err(error),
        Err(failed) => {
            // If the envelope is invalid, that is the error instead.
            header.decode::<Message<Envelope, Envelope>>()?;
            let is_request = header.kind()? == MessageKind::Request;
            Ok(not_sent(failed.into(), is_request.then(|| header.id())))
        }
    }
}

/// Converts a message of the hub to revision `peer`, and encodes it. The sender has the role `role`.
pub fn encode_message<Q: Object, N: Object, R: ProtocolRevision>(
    peer: R,
    role: Role,
    message: &Message<Q, N>,
    mut conversion: Conversion<R>,
) -> Translated<Vec<u8>> {
    let refused = |error: EncodeError| {
        let error = ErrorObject::new(error_code::INTERNAL_ERROR, error.to_string());
        Translated::Refused(ErrorResponse::new(None, error))
    };
    if peer == R::HUB || matches!(message, Message::Response(_) | Message::Error(_)) {
        return to_vec(message).map_or_else(refused, unchanged);
    }
    let id = match message {
        Message::Request(call) => Some(Some(call.id.clone())),
        _ => None,
    };
    let json = match KnownJson::of(message) {
        Ok(json) => json,
        Err(error) => return refused(error),
    };
    let source = Reader::of_known(&json);
    let converted = match R::protocol().chain(R::HUB.index(), peer.index()) {
        Ok(chain) => chain.message((role, id.is_some()), source, &mut conversion.state),
        Err(error) => Err(error.into()),
    };
    match converted {
        Ok(node) => Translated::Message {
            message: node.into_text().into_owned().into_bytes(),
            losses: conversion.into_losses(),
        },
        Err(failed) => not_sent(failed.into(), id),
    }
}

/// Reads the next value of `source` as the result of a method, and converts it to the hub. `method` is the method's
/// name in the revision `peer`; `decode` gets its name in the hub. The peer has the role `role`. Returns `None` for an
/// unknown method.
///
/// # Errors
/// When the JSON isn't a result of the method, or the hub can't represent it.
pub fn read_result<T, R: ProtocolRevision>(
    peer: R,
    role: Role,
    method: &str,
    source: &mut Reader<'_>,
    mut conversion: Conversion<R>,
    decode: impl FnOnce(&str, &mut Reader<'_>) -> Decoded<Option<T>>,
) -> Result<Option<FromResult<T>>, FromPeer> {
    if peer == R::HUB {
        let losses = Vec::new();
        return Ok(decode(method, source)?.map(|result| FromResult { result, losses }));
    }
    let chain = R::protocol().chain(peer.index(), R::HUB.index())?;
    source.remember();
    let Some(node) = chain.result(role, method, source, &mut conversion.state)? else {
        return Ok(None);
    };
    let method = R::HUB.name_of_method(peer, method);
    let result = decode(
        method,
        &mut conversion.state.reader(&node.to_known(&conversion.state.places)),
    )?;
    let losses = conversion.into_losses();
    Ok(result.map(|result| FromResult { result, losses }))
}

/// The number of bytes to reserve for the rest of a message after its result, such as the server's name and version.
const REST: usize = 512;

/// Converts a result to the revision `peer`, and appends it to `json`. `type_name` is the name of the result's type in
/// the hub, and `role` the role of the sender.
///
/// # Errors
/// When the revision can't represent the result. `json` is unchanged then.
pub fn push_result<T: Encode, R: ProtocolRevision>(
    json: &mut String,
    peer: R,
    role: Role,
    type_name: Option<&str>,
    result: &T,
    mut conversion: Conversion<R>,
) -> Result<Vec<Loss>, Unrepresentable> {
    if peer == R::HUB {
        push_value(json, result).map_err(|error| Unrepresentable::by_rule(&error, AUTOMATIC))?;
        return Ok(Vec::new());
    }
    let chain = R::protocol().chain(R::HUB.index(), peer.index())?;
    let start = json.len();
    let encoded = KnownJson::after(std::mem::take(json), result).map_err(|(text, error)| {
        *json = text;
        Unrepresentable::by_rule(&error, AUTOMATIC)
    })?;
    let source = Reader::of_known(&encoded).starting_at(start);
    let converted = chain.result_of(role, type_name, source, &mut conversion.state);
    let edits = match converted {
        Ok(mut node) => match node.few_edits(start, encoded.text().len() - start) {
            Some(edits) => Ok(edits),
            None => {
                json.push_str(&encoded.text()[..start]);
                node.push_to(json, REST);
                return Ok(conversion.into_losses());
            }
        },
        Err(failed) => Err(failed),
    };
    *json = encoded.into_text();
    match edits {
        Ok(edits) => {
            // Most results are long and change little, so the hub's JSON is edited in place instead of being written
            // again.
            edits.into_iter().for_each(|edit| edit.apply(json));
            Ok(conversion.into_losses())
        }
        Err(failed) => {
            json.truncate(start);
            Err(failed.into())
        }
    }
}

/// Converts a value of the peer's counterpart of a type to the hub and decodes it.
///
/// # Errors
/// When the JSON isn't an instance of it, or the hub can't represent it.
pub fn read_value<T: Decode + Validate, R: ProtocolRevision>(
    peer: R,
    json: &RawJson,
) -> Result<FromResult<T>, FromPeer> {
    let mut conversion = Conversion::<R>::new(Policy::Conform);
    let converted = convert_value(peer, R::HUB, T::POINTER, json.text(), &mut conversion)?;
    let result = from_str(&converted)?;
    let losses = conversion.into_losses();
    Ok(FromResult { result, losses })
}

/// Encodes a value and converts it to the revision `peer`.
///
/// # Errors
/// When the revision can't represent the value.
pub fn encode_value<T: Validate, R: ProtocolRevision>(
    peer: R,
    value: &T,
) -> Result<(RawJson, Vec<Loss>), Unrepresentable> {
    let mut conversion = Conversion::<R>::new(Policy::Conform);
    let json = to_string(value).map_err(|error| Unrepresentable::by_rule(&error, AUTOMATIC))?;
    let converted = convert_value(R::HUB, peer, T::POINTER, &json, &mut conversion)?;
    Ok((RawJson::of_json(converted), conversion.into_losses()))
}

/// Converts a value of a type of the hub, or its counterpart. `pointer` is that of its definition in the hub's schema.
fn convert_value<R: ProtocolRevision>(
    from: R,
    to: R,
    pointer: &str,
    json: &str,
    conversion: &mut Conversion<R>,
) -> Result<String, Failed> {
    if from == to {
        return Ok(json.to_owned());
    }
    let protocol = R::protocol();
    let name = protocol.table(R::HUB.index())?.name_at(pointer);
    let missing = || Unrepresentable::no_counterpart(name.unwrap_or(pointer), from.name());
    let own = match from == R::HUB {
        true => name,
        false => name.and_then(|name| protocol.chain(R::HUB.index(), from.index()).ok()?.definition(name)),
    };
    let found = own.and_then(|own| protocol.table(from.index()).ok()?.definition(own));
    let (name, ty) = found.ok_or_else(missing)?;
    let chain = protocol.chain(from.index(), to.index())?;
    let mut node = chain.read(Reader::new(json), ty, false, &mut conversion.state)?;
    chain.convert(name, &mut node, &mut conversion.state)?;
    Ok(node.into_text().into_owned())
}

/// A message of which only the envelope is decoded.
struct Envelope;

impl Decode for Envelope {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        reader.object(&mut []).map(|_| Self)
    }
}

/// Decodes a payload: a message, or a batch of messages where the revision has batches.
///
/// Only batches are parsed twice, because each of their elements has its own outcome.
fn received<T, R: ProtocolRevision>(
    peer: R,
    json: &[u8],
    read: impl Fn(&[u8]) -> Decoded<Translated<T>>,
) -> Decoded<Batch<Translated<T>>> {
    if json.trim_ascii_start().first() != Some(&b'[') {
        return read(json).map(Batch::One);
    }
    let elements: Vec<RawJson> = from_slice(json)?;
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
    let outcome = |element: &RawJson| match read(element.text().as_bytes()) {
        Ok(message) => message,
        Err(error) => Translated::Refused(malformed(element, &error)),
    };
    Ok(Batch::Many(elements.iter().map(outcome).collect()))
}

/// Returns the response to an invalid message.
fn malformed(json: &RawJson, error: &DecodeError) -> ErrorResponse {
    let has = |member| json.get(member).is_some();
    // The id of a response is that of a request of this peer. The other peer would take an error with this id for the
    // response to one of its own requests.
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

/// Returns the outcome of a message that can't be converted. `id` is `Some` for a request, with `None` in it if the
/// request's id is invalid.
fn not_sent<M>(reason: Unrepresentable, id: Option<Option<RequestId>>) -> Translated<M> {
    match id {
        Some(id) => {
            let error = ErrorObject::new(reason.code(), reason.to_string());
            Translated::Refused(ErrorResponse::new(id, error))
        }
        None => {
            let whole = Loss {
                path: mcp_wire::Path::default(),
                kind: LossKind::Dropped,
                rule: AUTOMATIC,
            };
            Translated::Dropped {
                losses: vec![whole],
                reason,
            }
        }
    }
}
