//! The members of the JSON-RPC envelope, which the reader takes out of the object that is a message.

use super::{JsonType, Reader};
use crate::error::{DecodeError, DecodeErrorKind, Decoded};
use crate::id::RequestId;
use crate::text::shortened;

/// The value of the member `jsonrpc`.
pub(crate) const VERSION: &str = "2.0";

/// The members of the envelope that have been read.
#[derive(Debug, Default)]
pub(crate) struct Envelope {
    pub(crate) id: Option<RequestId>,
    pub(crate) has_version: bool,
    /// Whether the object that is the message has been opened. The objects inside it have no envelope.
    opened: bool,
    /// What was read before the type of the message was known.
    prefix: Option<Prefix>,
}

/// The start of an object up to the end of its first members.
#[derive(Debug, Clone, Copy)]
struct Prefix {
    start: usize,
    end: usize,
}

impl Envelope {
    /// Whether `key` is a member of the envelope.
    pub(crate) fn has_member(key: &str) -> bool {
        matches!(key, "jsonrpc" | "id")
    }

    /// Opens an object, and returns whether it is the message itself.
    pub(crate) fn open(&mut self) -> bool {
        !std::mem::replace(&mut self.opened, true)
    }

    /// The position behind the members that were read of the object that starts at `start`; `None` if none were.
    pub(super) fn resumes(&self, start: usize) -> Option<usize> {
        self.prefix
            .filter(|prefix| prefix.start == start)
            .map(|prefix| prefix.end)
    }
}

impl Reader<'_> {
    /// Takes the envelope out of the object that comes next.
    pub(crate) fn expect_envelope(&mut self) {
        self.envelope_or_default();
    }

    /// Reads the member `key` of the envelope.
    pub(crate) fn envelope_member(&mut self, key: &str) -> Decoded<()> {
        let again = if key == "id" {
            let id = self.request_id().map_err(|error| error.in_member(key))?;
            self.envelope_or_default().id.replace(id).is_some()
        } else {
            self.jsonrpc_version().map_err(|error| error.in_member(key))?;
            std::mem::replace(&mut self.envelope_or_default().has_version, true)
        };
        if again {
            return Err(self.duplicate(key));
        }
        Ok(())
    }

    /// Reads the members of the envelope at the start of the next object, and returns whether the id is among them.
    ///
    /// The cursor stays before the object. Looking ahead and decoding start behind these members.
    pub(crate) fn read_envelope(&mut self) -> Decoded<bool> {
        self.json_type()?;
        let start = self.position();
        self.envelope = None;
        self.peek(|object| {
            while let Some(key) = object.reader.next_key(&mut object.first)? {
                if !Envelope::has_member(&key) || object.reader.json_type()? == JsonType::Null {
                    break;
                }
                object.reader.envelope_member(&key)?;
                let end = object.reader.position();
                object.reader.envelope_or_default().prefix = Some(Prefix { start, end });
            }
            Ok(())
        })?;
        Ok(self.envelope_or_default().id.is_some())
    }

    /// Reads the constant `"2.0"`.
    pub(crate) fn jsonrpc_version(&mut self) -> Decoded<()> {
        if self.string_is(VERSION) {
            return Ok(());
        }
        let version = self.string()?;
        if version == VERSION {
            return Ok(());
        }
        let found = format!("the string {:?}", shortened(&version));
        Err(DecodeError::new(
            DecodeErrorKind::WrongType,
            "the string \"2.0\"",
            found,
            self.position(),
        ))
    }

    /// Reads the id of a request.
    pub(crate) fn request_id(&mut self) -> Decoded<RequestId> {
        match self.json_type()? {
            JsonType::String => self.string().map(|id| RequestId::String(id.into_owned())),
            JsonType::Number => self.integer().map(RequestId::Integer),
            found => Err(self.wrong_type("a string or an integer", found)),
        }
    }

    fn envelope_or_default(&mut self) -> &mut Envelope {
        self.envelope.get_or_insert_default()
    }
}
