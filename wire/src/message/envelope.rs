//! The JSON-RPC envelope of requests and notifications.

use serde_core::ser::SerializeMap;
use serde_core::{Serialize, Serializer};

use super::VERSION;
use super::id::RequestId;
use crate::decode::Decode;
use crate::error::{DecodeError, DecodeErrorKind, Decoded};
use crate::members::{Object, write_object};
use crate::reader::{JsonType, Reader};
use crate::text::shortened;

/// The members of the envelope of the message that is being read.
#[derive(Debug, Default)]
pub(crate) struct EnvelopeSlot {
    version: bool,
    pub(super) id: Option<RequestId>,
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
    let found = format!("the string {:?}", shortened(&version));
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
pub(super) fn decode_enveloped<T: Decode>(reader: &mut Reader<'_>) -> Decoded<(T, EnvelopeSlot)> {
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
    pub(super) fn read_envelope(&mut self) -> Decoded<bool> {
        self.json_type()?;
        let start = self.position();
        self.envelope = None;
        self.peek(|object| {
            while let Some(key) = object.reader.next_key(&mut object.first)? {
                if !EnvelopeSlot::takes(&key) || object.reader.json_type()? == JsonType::Null {
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

/// The constant `"2.0"`.
pub(super) struct Version;

impl Decode for Version {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        read_version(reader).map(|()| Self)
    }
}
