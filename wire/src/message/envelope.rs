//! The JSON-RPC envelope of requests and notifications.

use serde_core::{Serialize, Serializer};

use crate::decode::Decode;
use crate::encode::{Encode, JsonWriter};
use crate::error::Decoded;
use crate::id::RequestId;
use crate::map::Extra;
use crate::name;
use crate::object::{MemberWriter, Object, ObjectWriter, encode_object, serialize_object};
use crate::reader::{Envelope, Reader, VERSION};

/// A request, or a union of requests, with its JSON-RPC envelope.
#[derive(Debug, Clone, PartialEq)]
pub struct Call<T> {
    /// The id, which the response repeats.
    pub id: RequestId,
    /// The method and its parameters.
    pub request: T,
}

/// A notification, or a union of notifications, with its JSON-RPC envelope.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice<T> {
    /// The method and its parameters.
    pub notification: T,
}

/// Decodes the next object without the members of the envelope, which [`take_envelope`] returns.
pub(super) fn decode_enveloped<T: Decode>(reader: &mut Reader<'_>) -> Decoded<T> {
    // Makes the reader take the envelope out of the object.
    reader.envelope.get_or_insert_default();
    reader.decode()
}

/// Returns the envelope of the object that was decoded, which must have the version.
pub(super) fn take_envelope(reader: &mut Reader<'_>) -> Decoded<Envelope> {
    let envelope = reader.envelope.take().unwrap_or_default();
    match envelope.has_version {
        true => Ok(envelope),
        false => Err(reader.missing("jsonrpc")),
    }
}

impl<T: Decode> Decode for Call<T> {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let request = decode_enveloped(reader)?;
        let id = take_envelope(reader)?.id.ok_or_else(|| reader.missing("id"))?;
        Ok(Self { id, request })
    }
}

impl<T: Decode> Decode for Notice<T> {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let notification = decode_enveloped(reader)?;
        match take_envelope(reader)?.id {
            None => Ok(Self { notification }),
            Some(_) => Err(reader.not_a_message("a notification, which has no id", "an id")),
        }
    }
}

impl<T: Object> Object for Call<T> {
    fn extra(&self) -> &Extra {
        self.request.extra()
    }

    fn write_members<M: ObjectWriter>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
        members.write(name!("jsonrpc"), VERSION)?;
        members.write(name!("id"), &self.id)?;
        self.request.write_members(members)
    }
}

impl<T: Object> Object for Notice<T> {
    fn extra(&self) -> &Extra {
        self.notification.extra()
    }

    fn write_members<M: ObjectWriter>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
        members.write(name!("jsonrpc"), VERSION)?;
        self.notification.write_members(members)
    }
}

impl<T: Object> Encode for Call<T> {
    fn encode(&self, json: &mut JsonWriter) {
        encode_object(self, json);
    }
}

impl<T: Object> Encode for Notice<T> {
    fn encode(&self, json: &mut JsonWriter) {
        encode_object(self, json);
    }
}

impl<T: Object> Serialize for Call<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_object(self, serializer)
    }
}

impl<T: Object> Serialize for Notice<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_object(self, serializer)
    }
}

/// The constant `"2.0"`.
pub(super) struct Version;

impl Decode for Version {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        reader.jsonrpc_version().map(|()| Self)
    }
}
