//! JSON-RPC messages.

mod envelope;
mod header;
mod response;

use mcp_json_schema::JsonType;
use serde_core::{Serialize, Serializer};

use crate::decode::Decode;
use crate::encode::{Encode, JsonWriter};
use crate::error::Decoded;
use crate::map::Extra;
use crate::name;
use crate::object::{Member, MemberWriter, Object, ObjectWriter};
use crate::open::RawObject;
use crate::reader::Reader;

pub use envelope::{Call, Notice};
pub use header::{BatchElements, MessageHeader, MessageKind, Payload};
pub use response::{ErrorObject, ErrorResponse, Response};

/// A request or notification whose method the revision doesn't declare.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownMethod {
    /// The method's name.
    pub method: String,
    /// The parameters, if any.
    pub params: Option<RawObject>,
    /// The other members.
    pub extra: Extra,
}

impl UnknownMethod {
    /// Creates a message without parameters.
    pub fn new(method: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            params: None,
            extra: Extra::new(),
        }
    }

    /// Decodes the message as another type, such as one that implements [`Request`](crate::Request).
    ///
    /// # Errors
    /// When the message isn't a `T`.
    pub fn decode_as<T: Decode>(&self) -> Decoded<T> {
        // Encoding fails only for numbers that JSON can't represent, and a message whose method is unknown has none.
        crate::from_str(&crate::to_string(self).unwrap_or_default())
    }

    /// Sets the parameters.
    #[must_use]
    pub fn with_params(mut self, params: impl Into<RawObject>) -> Self {
        self.params = Some(params.into());
        self
    }
}

impl Decode for UnknownMethod {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let (mut method, mut params) = (None, None);
        let extra = reader.object(&mut [
            Member::required("method", &mut method),
            Member::optional("params", &mut params),
        ])?;
        let method = method.ok_or_else(|| reader.missing("method"))?;
        Ok(Self { method, params, extra })
    }
}

impl Object for UnknownMethod {
    fn extra(&self) -> &Extra {
        &self.extra
    }

    fn write_members<M: ObjectWriter>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
        members.write(name!("method"), &self.method)?;
        members.write_optional(name!("params"), &self.params)
    }
}

crate::serde_object!(UnknownMethod);

/// A whole JSON-RPC message from a peer that sends the requests `Q` and the notifications `N`.
#[derive(Debug, Clone, PartialEq)]
pub enum Message<Q, N> {
    /// A request, which expects a response.
    Request(Call<Q>),
    /// A notification, which expects no response.
    Notification(Notice<N>),
    /// The successful response to an earlier request.
    Response(Response),
    /// The error response to an earlier request.
    Error(ErrorResponse),
}

impl<Q: Decode, N: Decode> Decode for Message<Q, N> {
    /// The kind of a message depends on the members that it has, never on whether they can be decoded: a request with
    /// an invalid id is an error, not a notification.
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let id_known = reader.read_envelope()?;
        let kind = match reader.next_method() {
            Some(_) => Some("method"),
            None => reader.peek_member(&["method", "result", "error"])?,
        };
        match kind {
            Some("method") if id_known || reader.peek_member(&["id"])?.is_some() => {
                Call::decode(reader).map(Self::Request)
            }
            Some("method") => Notice::decode(reader).map(Self::Notification),
            Some("result") => {
                let response = Response::decode(reader)?;
                check_single_kind(&response.extra, reader)?;
                Ok(Self::Response(response))
            }
            Some(_) => {
                // An error response reads its envelope itself, because the id can be `null`.
                reader.envelope = None;
                let response = ErrorResponse::decode(reader)?;
                check_single_kind(&response.extra, reader)?;
                Ok(Self::Error(response))
            }
            None => Err(reader.not_a_message("a member `method`, `result` or `error`", "none of them")),
        }
    }
}

/// A response must not have a method, or both a result and an error.
fn check_single_kind(extra: &Extra, reader: &Reader<'_>) -> Decoded<()> {
    let second = ["method", "result", "error"]
        .into_iter()
        .find(|member| extra.contains_key(member));
    match second {
        None => Ok(()),
        Some(member) => {
            let found = format!("`{member}` as well");
            Err(reader.not_a_message("only one of `method`, `result` and `error`", found))
        }
    }
}

impl<Q: Object, N: Object> Encode for Message<Q, N> {
    fn encode(&self, json: &mut JsonWriter) {
        match self {
            Self::Request(call) => json.value(call),
            Self::Notification(notice) => json.value(notice),
            Self::Response(response) => json.value(response),
            Self::Error(response) => json.value(response),
        }
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

/// A message, or a JSON-RPC batch of messages.
#[derive(Debug, Clone, PartialEq)]
pub enum Batch<M> {
    /// One message.
    One(M),
    /// Several messages in an array.
    Many(Vec<M>),
}

impl<M: Decode> Decode for Batch<M> {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        match reader.json_type()? {
            JsonType::Array => Vec::decode(reader).map(Self::Many),
            _ => M::decode(reader).map(Self::One),
        }
    }
}

impl<M: Encode> Encode for Batch<M> {
    fn encode(&self, json: &mut JsonWriter) {
        match self {
            Self::One(message) => json.value(message),
            Self::Many(messages) => json.array(messages),
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
