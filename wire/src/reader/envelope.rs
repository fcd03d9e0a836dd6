//! The members of the JSON-RPC envelope, which the reader takes out of a message.

use std::borrow::Cow;
use std::ops::Range;

use mcp_json_schema::shortened;

use super::{JsonType, Reader};
use crate::error::{DecodeError, DecodeErrorKind, Decoded};
use crate::id::RequestId;

/// The value of the member `jsonrpc`.
pub(crate) const VERSION: &str = "2.0";

/// The members of the envelope that have been read.
#[derive(Debug, Default)]
pub(crate) struct Envelope {
    pub(crate) id: Option<RequestId>,
    pub(crate) has_version: bool,
    /// Whether the object that is the message has been opened. The objects inside it have no envelope.
    opened: bool,
    /// The part that was read before the type of the message was known.
    prefix: Option<Prefix>,
}

/// The start of an object, as far as it has been read.
#[derive(Debug)]
struct Prefix {
    start: usize,
    /// The end of the members of the envelope, if the object starts with any.
    end: Option<usize>,
    /// The place of the method's name, if it is known and has no escapes.
    method: Option<Range<usize>>,
}

impl Envelope {
    /// Creates the envelope of a message at the start of a text. `end` is the end of its members, and `method` the place
    /// of the method's name, if that has no escapes.
    pub(crate) fn at_start(id: Option<RequestId>, has_version: bool, end: usize, method: Option<Range<usize>>) -> Self {
        Self {
            id,
            has_version,
            opened: false,
            prefix: Some(Prefix {
                start: 0,
                end: Some(end),
                method,
            }),
        }
    }

    /// Whether `key` is a member of the envelope.
    pub(crate) fn has_member(key: &str) -> bool {
        matches!(key, "jsonrpc" | "id")
    }

    /// Opens an object, and returns whether it is the message itself.
    pub(crate) fn open(&mut self) -> bool {
        !std::mem::replace(&mut self.opened, true)
    }

    /// Returns the position after the members that have been read of the object at `start`. `None` if none have been.
    pub(super) fn resumes(&self, start: usize) -> Option<usize> {
        self.prefix_at(start)?.end
    }

    fn prefix_at(&self, start: usize) -> Option<&Prefix> {
        self.prefix.as_ref().filter(|prefix| prefix.start == start)
    }
}

impl<'a> Reader<'a> {
    /// Returns the method of the next message, if it is the first member after those of the envelope, which have been
    /// read.
    pub(crate) fn next_method(&self) -> Option<&'a str> {
        let prefix = self.envelope.as_ref()?.prefix_at(self.position())?;
        self.text().get(prefix.method.clone()?)
    }

    /// Skips the next value if it is the message's method, has been read with the envelope, and is `method`. If not, the
    /// cursor doesn't move.
    pub(crate) fn skip_known_method(&mut self, method: &str) -> bool {
        let prefix = self.envelope.as_ref().and_then(|envelope| envelope.prefix.as_ref());
        let Some(place) = prefix.and_then(|prefix| prefix.method.as_ref()) else {
            return false;
        };
        let is_it = place.start == self.position + 1 && self.text.get(place.clone()) == Some(method);
        if is_it {
            self.position = place.end + 1;
        }
        is_it
    }

    /// Reads the member `key` of the envelope.
    pub(crate) fn envelope_member(&mut self, key: &str) -> Decoded<()> {
        let again = if key == "id" {
            let id = self.request_id().map_err(|error| error.in_member(key))?;
            self.envelope.get_or_insert_default().id.replace(id).is_some()
        } else {
            self.jsonrpc_version().map_err(|error| error.in_member(key))?;
            std::mem::replace(&mut self.envelope.get_or_insert_default().has_version, true)
        };
        if again {
            return Err(self.duplicate(key));
        }
        Ok(())
    }

    /// Reads the value of a member of the message that is the whole text by `read`. The value starts at `start`. The
    /// cursor goes to the end of the text.
    pub fn within_message<T>(&mut self, start: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.depth;
        self.depth += 1;
        self.position = match self.text.is_char_boundary(start) {
            true => start,
            false => self.text.len(),
        };
        let result = read(self);
        (self.position, self.depth) = (self.text.len(), depth);
        result
    }

    /// Reads the members of the envelope at the start of the next object, and returns whether the id is among them.
    ///
    /// The cursor stays before the object. Looking ahead and decoding start after these members.
    pub(crate) fn read_envelope(&mut self) -> Decoded<bool> {
        self.json_type()?;
        let start = self.position();
        // The envelope of the header.
        if let Some(envelope) = &self.envelope
            && !envelope.opened
            && envelope.prefix_at(start).is_some()
        {
            return Ok(envelope.id.is_some());
        }
        self.envelope = None;
        let (mut end, mut method) = (None, None);
        self.peek(|object| {
            let reader = &mut *object.reader;
            while let Some(key) = reader.next_key(&mut object.first)? {
                if key == "method" {
                    method = reader.unescaped_string();
                    break;
                }
                if !Envelope::has_member(&key) || reader.json_type()? == JsonType::Null {
                    break;
                }
                reader.envelope_member(&key)?;
                end = Some(reader.position());
            }
            Ok(())
        })?;
        let envelope = self.envelope.get_or_insert_default();
        envelope.prefix = Some(Prefix { start, end, method });
        Ok(envelope.id.is_some())
    }

    /// Returns the place of the next value's text, if it is a string without escapes.
    fn unescaped_string(&mut self) -> Option<Range<usize>> {
        let Ok(Cow::Borrowed(text)) = self.string() else {
            return None;
        };
        let end = self.position() - 1;
        Some(end - text.len()..end)
    }

    /// Reads the constant `"2.0"`.
    pub(crate) fn jsonrpc_version(&mut self) -> Decoded<()> {
        if self.string_is(VERSION) {
            return Ok(());
        }
        self.json_type()?;
        let start = self.position();
        let version = self.string()?;
        if version == VERSION {
            return Ok(());
        }
        let found = format!("the string {:?}", shortened(&version));
        Err(DecodeError::new(
            DecodeErrorKind::WrongType,
            "the string \"2.0\"",
            found,
            start,
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
}
