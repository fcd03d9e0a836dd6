//! JSON values that are borrowed from the text of a message.

use std::borrow::Cow;

use mcp_json_schema::JsonType;

use crate::decode::Decode;
use crate::error::Decoded;
use crate::reader::Reader;

/// A JSON value, borrowed from the text of a message.
#[derive(Debug, Clone, Copy)]
pub struct BorrowedJson<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> BorrowedJson<'a> {
    /// Reads a whole text as a value.
    pub(crate) fn whole(json: &'a [u8]) -> Decoded<Self> {
        let text = Reader::from_slice(json)?.whole(Reader::text_at_any_depth)?;
        Ok(Self { text, offset: 0 })
    }

    /// Creates a value from a JSON text. A text that isn't JSON is accepted, but reading it is an error.
    #[doc(hidden)]
    #[must_use]
    pub fn of_json(text: &'a str) -> Self {
        Self::of_valid(text, 0)
    }

    /// Creates a value from a text that is known to be JSON, without white space around it. It is at `offset` in the
    /// message.
    pub(crate) fn of_valid(text: &'a str, offset: usize) -> Self {
        Self { text, offset }
    }

    /// Returns the JSON text, without white space around it.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.text
    }

    /// Returns the offset of the value from the start of the message, in bytes.
    #[must_use]
    pub fn offset(self) -> usize {
        self.offset
    }

    /// Returns the JSON type of the value.
    #[must_use]
    pub fn json_type(self) -> JsonType {
        // The text is valid JSON, so it has a type.
        Reader::new(self.text).json_type().unwrap_or(JsonType::Null)
    }

    /// Decodes the value.
    ///
    /// # Errors
    /// When the value isn't a `T`.
    pub fn decode_as<T: Decode>(self) -> Decoded<T> {
        crate::from_str(self.text)
    }

    /// Returns the value of a string, which is copied only if it has escapes.
    ///
    /// # Errors
    /// When the value isn't a string, or has an invalid escape.
    pub fn string(self) -> Decoded<Cow<'a, str>> {
        match self.text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(text) if !text.as_bytes().contains(&b'\\') => Ok(Cow::Borrowed(text)),
            _ => Reader::new(self.text).string(),
        }
    }

    /// Returns the value at `path`, a list of member names. `None` if there is no such value, or if a value on the path
    /// isn't an object.
    ///
    /// # Errors
    /// When a member on the path occurs twice, so that the value is ambiguous, or when a name in an object on the path
    /// isn't valid. A caller that bases a decision on the value should refuse the message then.
    pub fn get(self, path: &[&str]) -> Decoded<Option<Self>> {
        let [member, rest @ ..] = path else {
            return Ok(Some(self));
        };
        if self.json_type() != JsonType::Object {
            return Ok(None);
        }
        let mut found = None;
        members(&mut Reader::new(self.text), self.offset, |key, value| {
            **key != **member || found.replace(value).is_none()
        })?;
        match found {
            Some(value) => value.get(rest).map_err(|error| error.in_member(member)),
            None => Ok(None),
        }
    }
}

/// Calls `take` with each member of the next object. `take` returns `false` for a duplicate member, which is an error.
/// The object is at `origin` in the message.
pub(crate) fn members<'a>(
    reader: &mut Reader<'a>,
    origin: usize,
    mut take: impl FnMut(&Cow<'a, str>, BorrowedJson<'a>) -> bool,
) -> Decoded<()> {
    reader.json_type()?;
    let start = reader.position();
    let mut first = reader.open_object()?;
    while let Some(key) = reader.next_key(&mut first)? {
        let text = reader.text_at_any_depth()?;
        let offset = origin + reader.position() - start - text.len();
        if !take(&key, BorrowedJson { text, offset }) {
            return Err(reader.duplicate(&key));
        }
    }
    Ok(())
}
