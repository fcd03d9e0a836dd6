//! The JSON-RPC envelope of requests and notifications.

use serde_core::ser::SerializeMap;
use serde_core::{Serialize, Serializer};

use crate::decode::Decode;
use crate::encode::{Encode, JsonWriter};
use crate::error::Decoded;
use crate::id::RequestId;
use crate::object::{Object, ObjectWriter, write_object};
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

/// Decodes the next object, and returns it without the members of the envelope, and the envelope.
pub(super) fn decode_enveloped<T: Decode>(reader: &mut Reader<'_>) -> Decoded<(T, Envelope)> {
    // Makes the reader take the envelope out of the object.
    reader.envelope.get_or_insert_default();
    let body = reader.decode()?;
    let envelope = reader.envelope.take().unwrap_or_default();
    if !envelope.has_version {
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
            Some(_) => Err(reader.not_a_message("a notification, which has no id", "an id")),
        }
    }
}

impl<T: Object> Call<T> {
    fn write<M: ObjectWriter>(&self, object: &mut M) -> Result<(), M::Error> {
        object.member("jsonrpc", VERSION)?;
        object.member("id", &self.id)?;
        write_object(&self.request, object)
    }
}

impl<T: Object> Notice<T> {
    fn write<M: ObjectWriter>(&self, object: &mut M) -> Result<(), M::Error> {
        object.member("jsonrpc", VERSION)?;
        write_object(&self.notification, object)
    }
}

impl<T: Object> Encode for Call<T> {
    fn encode(&self, json: &mut JsonWriter) {
        json.object(|object| self.write(object));
    }
}

impl<T: Object> Encode for Notice<T> {
    fn encode(&self, json: &mut JsonWriter) {
        json.object(|object| self.write(object));
    }
}

impl<T: Object> Serialize for Call<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write(&mut map)?;
        map.end()
    }
}

impl<T: Object> Serialize for Notice<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write(&mut map)?;
        map.end()
    }
}

/// The constant `"2.0"`.
pub(super) struct Version;

impl Decode for Version {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        reader.jsonrpc_version().map(|()| Self)
    }
}
