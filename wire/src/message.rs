//! JSON-RPC messages: what stands around a method's parameters and results.

use std::borrow::Cow;
use std::fmt;

use serde_core::ser::SerializeMap;
use serde_core::{Serialize, Serializer};

use crate::decode::Decode;
use crate::error::{DecodeError, DecodeErrorKind, Decoded};
use crate::map::Extra;
use crate::members::{MemberWriter, Object, write_object};
use crate::open::{OpenJson, OpenObject};
use crate::reader::{Kind, Reader};

const VERSION: &str = "2.0";

/// The id of a request, which its response repeats.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestId {
    /// An integer of 64 bits.
    Integer(i64),
    /// A string.
    String(String),
}

impl Decode for RequestId {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        match reader.kind()? {
            Kind::String => reader.string().map(|id| Self::String(id.into_owned())),
            Kind::Number => reader.integer().map(Self::Integer),
            found => Err(reader.wrong_type("a string or an integer", found)),
        }
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(id) => serializer.serialize_i64(*id),
            Self::String(id) => serializer.serialize_str(id),
        }
    }
}

crate::deserialize_by_decoding!(RequestId);

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(id) => id.fmt(f),
            Self::String(id) => id.fmt(f),
        }
    }
}

impl From<i64> for RequestId {
    fn from(id: i64) -> Self {
        Self::Integer(id)
    }
}

impl From<String> for RequestId {
    fn from(id: String) -> Self {
        Self::String(id)
    }
}

impl From<&str> for RequestId {
    fn from(id: &str) -> Self {
        Self::String(id.to_owned())
    }
}

/// Where an object that is a whole message leaves what belongs to the envelope.
#[derive(Debug, Default)]
pub(crate) struct EnvelopeSlot {
    version: bool,
    id: Option<RequestId>,
    claimed: bool,
    /// What has been read before it was known which type of message this is.
    read: Option<Prefix>,
}

/// The start of an object up to the end of its first members.
#[derive(Debug, Clone, Copy)]
struct Prefix {
    start: usize,
    end: usize,
}

impl EnvelopeSlot {
    pub(crate) fn takes(key: &str) -> bool {
        matches!(key, "jsonrpc" | "id")
    }

    /// Whether the object that is being opened is the message itself, and none inside of it.
    pub(crate) fn claim(&mut self) -> bool {
        !std::mem::replace(&mut self.claimed, true)
    }

    /// Where the members that are still to be read begin, if some of the object that starts at `start` have been read.
    pub(crate) fn resumes(&self, start: usize) -> Option<usize> {
        self.read.filter(|read| read.start == start).map(|read| read.end)
    }
}

fn read_version(reader: &mut Reader<'_>) -> Decoded<()> {
    if reader.string_is(VERSION) {
        return Ok(());
    }
    let version = reader.string()?;
    if version == VERSION {
        return Ok(());
    }
    let found = format!("the string {version:?}");
    Err(DecodeError::new(
        DecodeErrorKind::WrongType,
        "the string \"2.0\"",
        found,
        reader.position(),
    ))
}

/// A request, or a union of requests, with the envelope that JSON-RPC puts around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call<T> {
    /// The id that the response will repeat.
    pub id: RequestId,
    /// The method and its parameters.
    pub request: T,
}

/// A notification, or a union of notifications, with the envelope that JSON-RPC puts around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice<T> {
    /// The method and its parameters.
    pub notification: T,
}

/// The object that comes next, without the members of the envelope, and these.
fn decode_enveloped<T: Decode>(reader: &mut Reader<'_>) -> Decoded<(T, EnvelopeSlot)> {
    reader.envelope_slot();
    let body = T::decode(reader)?;
    let envelope = reader.envelope.take().unwrap_or_default();
    if !envelope.version {
        return Err(reader.missing("jsonrpc"));
    }
    Ok((body, envelope))
}

impl<T: Decode> Decode for Call<T> {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let (request, envelope) = decode_enveloped(reader)?;
        let id = envelope.id.ok_or_else(|| reader.missing("id"))?;
        Ok(Self { id, request })
    }
}

impl<T: Decode> Decode for Notice<T> {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let (notification, envelope) = decode_enveloped(reader)?;
        match envelope.id {
            None => Ok(Self { notification }),
            Some(_) => Err(DecodeError::new(
                DecodeErrorKind::NotAMessage,
                "a notification, which has no id",
                "an id",
                reader.position(),
            )),
        }
    }
}

impl<T: Object> Serialize for Call<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("jsonrpc", VERSION)?;
        map.serialize_entry("id", &self.id)?;
        write_object(&self.request, &mut map)?;
        map.end()
    }
}

impl<T: Object> Serialize for Notice<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("jsonrpc", VERSION)?;
        write_object(&self.notification, &mut map)?;
        map.end()
    }
}

/// A successful response.
///
/// Which type the result has depends on the request that the id belongs to. Until that is known it is open JSON;
/// [`OpenJson::decode_as`] makes it a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Response<T = OpenJson> {
    /// The id of the request that this answers.
    pub id: RequestId,
    /// What the method returned.
    pub result: T,
    /// Members that JSON-RPC doesn't declare.
    pub extra: Extra,
}

impl<T> Response<T> {
    /// The answer to the request `id`.
    pub fn new(id: impl Into<RequestId>, result: T) -> Self {
        Self {
            id: id.into(),
            result,
            extra: Extra::new(),
        }
    }
}

impl<T: Decode> Decode for Response<T> {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let (body, envelope) = decode_enveloped::<ResponseBody<T>>(reader)?;
        Ok(Self {
            id: envelope.id.ok_or_else(|| reader.missing("id"))?,
            result: body.result,
            extra: body.extra,
        })
    }
}

/// A response without its envelope.
struct ResponseBody<T> {
    result: T,
    extra: Extra,
}

impl<T: Decode> Decode for ResponseBody<T> {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let mut result = None;
        let mut members = reader.members()?;
        while let Some(key) = members.key()? {
            match &*key {
                "result" => members.read(&mut result, "result")?,
                _ => members.keep(key)?,
            }
        }
        Ok(Self {
            result: members.require(result, "result")?,
            extra: members.finish()?,
        })
    }
}

impl<T: Serialize> Object for Response<T> {
    fn extra(&self) -> &Extra {
        &self.extra
    }

    fn write_members<M: SerializeMap>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
        members.write("jsonrpc", VERSION)?;
        members.write("id", &self.id)?;
        members.write("result", &self.result)
    }
}

impl<T: Serialize> Serialize for Response<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::serialize_object(self, serializer)
    }
}

/// A response that says what went wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorResponse {
    /// The id of the request that failed; absent if it couldn't be read.
    pub id: Option<RequestId>,
    /// What went wrong.
    pub error: ErrorObject,
    /// Members that JSON-RPC doesn't declare.
    pub extra: Extra,
}

impl ErrorResponse {
    /// The failure of the request `id`, or of something whose id couldn't be read.
    pub fn new(id: Option<RequestId>, error: ErrorObject) -> Self {
        Self {
            id,
            error,
            extra: Extra::new(),
        }
    }
}

impl Decode for ErrorResponse {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let (mut version, mut id, mut error) = (None, None, None);
        let mut members = reader.members()?;
        while let Some(key) = members.key()? {
            match &*key {
                "jsonrpc" => members.read::<Version>(&mut version, "jsonrpc")?,
                "id" => members.read_optional(&mut id, "id")?,
                "error" => members.read(&mut error, "error")?,
                _ => members.keep(key)?,
            }
        }
        members.require(version, "jsonrpc")?;
        Ok(Self {
            id,
            error: members.require(error, "error")?,
            extra: members.finish()?,
        })
    }
}

impl Object for ErrorResponse {
    fn extra(&self) -> &Extra {
        &self.extra
    }

    fn write_members<M: SerializeMap>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
        members.write("jsonrpc", VERSION)?;
        members.write_optional("id", &self.id)?;
        members.write("error", &self.error)
    }
}

crate::serde_object!(ErrorResponse);

/// What went wrong, by [JSON-RPC's error object](https://www.jsonrpc.org/specification#error_object).
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorObject {
    /// The kind of error: see [`error_code`](crate::error_code) and the revision's own codes.
    pub code: i64,
    /// One sentence about it.
    pub message: String,
    /// Anything that helps to handle it.
    pub data: Option<OpenJson>,
    /// Members that JSON-RPC doesn't declare.
    pub extra: Extra,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
            extra: Extra::new(),
        }
    }

    /// The same error with `data`.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<OpenJson>) -> Self {
        self.data = Some(data.into());
        self
    }
}

impl Decode for ErrorObject {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let (mut code, mut message, mut data) = (None, None, None);
        let mut members = reader.members()?;
        while let Some(key) = members.key()? {
            match &*key {
                "code" => members.read(&mut code, "code")?,
                "message" => members.read(&mut message, "message")?,
                "data" => members.read_optional(&mut data, "data")?,
                _ => members.keep(key)?,
            }
        }
        Ok(Self {
            code: members.require(code, "code")?,
            message: members.require(message, "message")?,
            data,
            extra: members.finish()?,
        })
    }
}

impl Object for ErrorObject {
    fn extra(&self) -> &Extra {
        &self.extra
    }

    fn write_members<M: SerializeMap>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
        members.write("code", &self.code)?;
        members.write("message", &self.message)?;
        members.write_optional("data", &self.data)
    }
}

crate::serde_object!(ErrorObject);

/// The constant `"2.0"`.
struct Version;

impl Decode for Version {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        read_version(reader).map(|()| Self)
    }
}

/// A request or notification whose method the revision doesn't have.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownMethod {
    /// The method's name.
    pub method: String,
    /// The parameters, if there were any.
    pub params: Option<OpenObject>,
    /// Further members.
    pub extra: Extra,
}

impl UnknownMethod {
    /// A call of `method` without parameters.
    pub fn new(method: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            params: None,
            extra: Extra::new(),
        }
    }

    /// The same call with parameters.
    #[must_use]
    pub fn with_params(mut self, params: impl Into<OpenObject>) -> Self {
        self.params = Some(params.into());
        self
    }
}

impl Decode for UnknownMethod {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let (mut method, mut params) = (None, None);
        let mut members = reader.members()?;
        while let Some(key) = members.key()? {
            match &*key {
                "method" => members.read(&mut method, "method")?,
                "params" => members.read_optional(&mut params, "params")?,
                _ => members.keep(key)?,
            }
        }
        Ok(Self {
            method: members.require(method, "method")?,
            params,
            extra: members.finish()?,
        })
    }
}

impl Object for UnknownMethod {
    fn extra(&self) -> &Extra {
        &self.extra
    }

    fn write_members<M: SerializeMap>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
        members.write("method", &self.method)?;
        members.write_optional("params", &self.params)
    }
}

crate::serde_object!(UnknownMethod);

/// A whole JSON-RPC message from a peer that sends the requests `Q` and the notifications `N`.
#[derive(Debug, Clone, PartialEq)]
pub enum Message<Q, N> {
    /// A method is called, and an answer expected.
    Request(Call<Q>),
    /// A method is called, and no answer expected.
    Notification(Notice<N>),
    /// An earlier request succeeded.
    Response(Response),
    /// An earlier request failed.
    Error(ErrorResponse),
}

impl<Q: Decode, N: Decode> Decode for Message<Q, N> {
    /// What a message is depends on which members it has, never on whether they can be decoded: a request with an id
    /// that can't be held is an error, not a notification.
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let id_known = reader.read_envelope()?;
        match reader.peek_member(&["method", "result", "error"])? {
            Some("method") if id_known => Call::decode(reader).map(Self::Request),
            Some("method") => match reader.peek_member(&["id"])? {
                Some(_) => Call::decode(reader).map(Self::Request),
                None => Notice::decode(reader).map(Self::Notification),
            },
            Some("result") => {
                let response = Response::decode(reader)?;
                refuse_second_nature(&response.extra, reader)?;
                Ok(Self::Response(response))
            }
            Some(_) => {
                // An error response has an envelope of its own, in which the id may be `null`.
                reader.envelope = None;
                let response = ErrorResponse::decode(reader)?;
                refuse_second_nature(&response.extra, reader)?;
                Ok(Self::Error(response))
            }
            None => Err(DecodeError::new(
                DecodeErrorKind::NotAMessage,
                "a member `method`, `result` or `error`",
                "none of them",
                reader.position(),
            )),
        }
    }
}

impl Reader<'_> {
    /// Reads a member of the envelope into its slot.
    pub(crate) fn envelope_member(&mut self, key: &str) -> Decoded<()> {
        let again = if key == "id" {
            let id = RequestId::decode(self).map_err(|error| error.in_member(key))?;
            self.envelope_slot().id.replace(id).is_some()
        } else {
            read_version(self).map_err(|error| error.in_member(key))?;
            std::mem::replace(&mut self.envelope_slot().version, true)
        };
        if again {
            return Err(self.duplicate(key));
        }
        Ok(())
    }

    /// Reads the members of the envelope that the object which comes next begins with, so that looking ahead and
    /// decoding needn't go through them again; the cursor stays before the object. Says whether the id is among them.
    fn read_envelope(&mut self) -> Decoded<bool> {
        self.kind()?;
        let start = self.position();
        self.envelope = None;
        self.peek(|object| {
            while let Some(key) = object.reader.next_key(&mut object.first)? {
                if !EnvelopeSlot::takes(&key) || object.reader.kind()? == Kind::Null {
                    break;
                }
                object.reader.envelope_member(&key)?;
                let end = object.reader.position();
                object.reader.envelope_slot().read = Some(Prefix { start, end });
            }
            Ok(())
        })?;
        Ok(self.envelope_slot().id.is_some())
    }

    fn envelope_slot(&mut self) -> &mut EnvelopeSlot {
        self.envelope.get_or_insert_default()
    }
}

/// A response that is also a request, or both a result and an error, is neither.
fn refuse_second_nature(extra: &Extra, reader: &Reader<'_>) -> Decoded<()> {
    let second = ["method", "result", "error"]
        .into_iter()
        .find(|member| extra.contains_key(member));
    match second {
        None => Ok(()),
        Some(member) => Err(DecodeError::new(
            DecodeErrorKind::NotAMessage,
            "only one of `method`, `result` and `error`",
            Cow::Owned(format!("`{member}` as well")),
            reader.position(),
        )),
    }
}

impl<Q: Object, N: Object> Serialize for Message<Q, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Request(call) => call.serialize(serializer),
            Self::Notification(notice) => notice.serialize(serializer),
            Self::Response(response) => response.serialize(serializer),
            Self::Error(response) => response.serialize(serializer),
        }
    }
}

/// What arrives at once in a revision that has JSON-RPC batches.
#[derive(Debug, Clone, PartialEq)]
pub enum Batch<M> {
    /// One message.
    One(M),
    /// Several messages in an array.
    Many(Vec<M>),
}

impl<M> Batch<M> {
    /// The same number of something else, made from each message in order.
    pub fn map<T>(self, mut convert: impl FnMut(M) -> T) -> Batch<T> {
        match self {
            Self::One(message) => Batch::One(convert(message)),
            Self::Many(messages) => Batch::Many(messages.into_iter().map(convert).collect()),
        }
    }
}

impl<M: Decode> Decode for Batch<M> {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        match reader.kind()? {
            Kind::Array => Vec::decode(reader).map(Self::Many),
            _ => M::decode(reader).map(Self::One),
        }
    }
}

impl<M: Serialize> Serialize for Batch<M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(message) => message.serialize(serializer),
            Self::Many(messages) => messages.serialize(serializer),
        }
    }
}
