//! A pull reader over a JSON text: one pass, no buffering, and a cursor that can look ahead.
//!
//! The text is one slice, so the reader can look ahead for the tag of a union and go back without a copy. A tag that comes
//! first costs one comparison. serde_json checks the values that are kept as text.

mod budget;
mod look_ahead;

use std::borrow::Cow;

use serde_core::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::decimal::{Decimal, Integral};
use crate::decode::Decode;
use crate::error::{DecodeError, DecodeErrorKind, Decoded};
use crate::map::first_duplicate;
use crate::message::EnvelopeSlot;
use crate::number::Number;
use crate::open::OpenJson;
use crate::text::{brackets, plain_prefix, push_escape, shortened, string_end};

pub use look_ahead::Discriminator;

pub(crate) use budget::ALLOCATION;

/// How deep arrays and objects may be nested in a value that is decoded, open JSON included.
pub const MAX_DEPTH: usize = 128;

/// A position in a JSON text.
#[derive(Debug)]
pub struct Reader<'a> {
    text: &'a str,
    position: usize,
    depth: usize,
    /// How many bytes of memory the rest of the text may take.
    budget: usize,
    /// The envelope of the message that is being read, if the next object is a message.
    pub(crate) envelope: Option<EnvelopeSlot>,
}

/// The JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JsonType {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// Any number, integral or not.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonType {
    /// The name that JSON Schema has for the type: `object`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// The name with its article, as errors have it: `an object`.
    #[must_use]
    pub fn with_article(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// Writes [`JsonType::name`].
impl Serialize for JsonType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'a> Reader<'a> {
    /// Reads `text` from its start.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            position: 0,
            depth: 0,
            budget: budget::budget(text),
            envelope: None,
        }
    }

    /// Reads `bytes` from their start.
    ///
    /// # Errors
    /// When they aren't UTF-8.
    pub fn from_slice(bytes: &'a [u8]) -> Decoded<Self> {
        std::str::from_utf8(bytes)
            .map(Self::new)
            .map_err(|error| DecodeError::new(DecodeErrorKind::Syntax, "UTF-8", "other bytes", error.valid_up_to()))
    }

    /// The type of the value that comes next.
    ///
    /// # Errors
    /// When no JSON value starts here.
    pub fn json_type(&mut self) -> Decoded<JsonType> {
        self.skip_space();
        match self.byte() {
            Some(b'"') => Ok(JsonType::String),
            Some(b'{') => Ok(JsonType::Object),
            Some(b'[') => Ok(JsonType::Array),
            Some(b't' | b'f') => Ok(JsonType::Boolean),
            Some(b'n') => Ok(JsonType::Null),
            Some(b'-' | b'0'..=b'9') => Ok(JsonType::Number),
            _ => Err(self.syntax("a JSON value")),
        }
    }

    /// Reads a string.
    ///
    /// # Errors
    /// When the next value is none.
    pub fn string(&mut self) -> Decoded<Cow<'a, str>> {
        self.expect(b'"', JsonType::String)?;
        self.quoted()
    }

    /// Reads the string whose opening quote is the next byte.
    fn quoted(&mut self) -> Decoded<Cow<'a, str>> {
        let start = self.position + 1;
        let end = start + plain_prefix(&self.text.as_bytes()[start..]);
        if self.text.as_bytes().get(end) == Some(&b'"') {
            self.position = end + 1;
            return Ok(Cow::Borrowed(&self.text[start..end]));
        }
        self.escaped_string(start, end).map(Cow::Owned)
    }

    /// Reads a string from `start` whose first escape is at `at`.
    fn escaped_string(&mut self, mut start: usize, mut at: usize) -> Decoded<String> {
        let bytes = self.text.as_bytes();
        let mut unescaped = String::new();
        loop {
            unescaped.push_str(&self.text[start..at]);
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    let escape = push_escape(&mut unescaped, &self.text[at..]);
                    start = at + escape.ok_or_else(|| self.syntax("a string with valid escapes"))?;
                }
                Some(_) => return Err(self.syntax("a string without unescaped control characters")),
                None => return Err(self.syntax("the end of the string")),
            }
            at = start + plain_prefix(&bytes[start..]);
        }
        self.position = at + 1;
        // Spare capacity is given back, because a string is charged by the length of its text.
        unescaped.shrink_to_fit();
        Ok(unescaped)
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    /// When the next value is neither.
    pub fn boolean(&mut self) -> Decoded<bool> {
        match self.json_type()? {
            JsonType::Boolean if self.byte() == Some(b't') => self.literal("true").map(|()| true),
            JsonType::Boolean => self.literal("false").map(|()| false),
            found => Err(self.wrong_type(JsonType::Boolean.with_article(), found)),
        }
    }

    /// Reads `null`.
    ///
    /// # Errors
    /// When the next value is another.
    pub fn null(&mut self) -> Decoded<()> {
        self.expect(b'n', JsonType::Null)?;
        self.literal("null")
    }

    /// Reads an integer of 64 bits, however it is written: `1`, `1.0` and `10e-1` are the same.
    ///
    /// # Errors
    /// When the next value is no number, has a fraction, or doesn't fit.
    pub fn integer(&mut self) -> Decoded<i64> {
        let text = self.number_text("an integer")?;
        let integral = Decimal::parse(text).ok_or_else(|| self.syntax("a number"))?.integral();
        let wrong = |kind, expected, found| {
            Err(DecodeError::new(
                kind,
                expected,
                format!("{found} {}", shortened(text)),
                self.position,
            ))
        };
        match integral {
            Integral::Fits(integer) => {
                self.position += text.len();
                Ok(integer)
            }
            Integral::TooLarge => wrong(DecodeErrorKind::OutOfRange, "an integer of 64 bits", "the larger"),
            Integral::Fractional => wrong(DecodeErrorKind::WrongType, "an integer", "the fraction"),
        }
    }

    /// Reads a number of any size.
    ///
    /// # Errors
    /// When the next value is none.
    pub fn number(&mut self) -> Decoded<Number> {
        let text = self.number_text("a number")?;
        let number = Number::parse(text).ok_or_else(|| self.syntax("a number"))?;
        self.position += text.len();
        Ok(number)
    }

    /// Reads a string if it is this one, written without escapes; otherwise reads nothing.
    pub(crate) fn string_is(&mut self, text: &str) -> bool {
        self.skip_space();
        let rest = self.text[self.position..].strip_prefix('"');
        let is = rest
            .and_then(|rest| rest.strip_prefix(text))
            .is_some_and(|rest| rest.starts_with('"'));
        if is {
            self.position += text.len() + 2;
        }
        is
    }

    /// Takes the next value as text. It is checked to be JSON and not nested too deep, but not parsed.
    ///
    /// # Errors
    /// When it isn't JSON, or is nested too deep.
    pub fn raw(&mut self) -> Decoded<&'a RawValue> {
        self.skip_space();
        let (start, raw) = (self.position, self.raw_at_any_depth()?);
        if nested_deeper_than(raw.get(), MAX_DEPTH - self.depth) {
            self.position = start;
            return Err(self.too_deep());
        }
        Ok(raw)
    }

    /// Takes the next value as [`Self::raw`] does, however deep it is nested.
    pub(crate) fn raw_at_any_depth(&mut self) -> Decoded<&'a RawValue> {
        self.skip_space();
        let mut value = serde_json::Deserializer::from_str(&self.text[self.position..]);
        let raw = <&'a RawValue>::deserialize(&mut value).map_err(|_| self.syntax("a JSON value"))?;
        self.position += raw.get().len();
        Ok(raw)
    }

    /// Takes the next value as the variant of a union that the revision doesn't declare.
    ///
    /// No member may occur twice in it: the tag has been read from it, and validation will read the rest.
    ///
    /// # Errors
    /// When it isn't JSON, is nested too deep, or an object in it has a member twice.
    pub fn unknown_variant(&mut self) -> Decoded<OpenJson> {
        self.skip_space();
        let start = self.position;
        self.skip_distinct()?;
        self.position = start;
        OpenJson::decode(self)
    }

    /// Skips the next value. An object in it that has a member twice is an error.
    pub(crate) fn skip_distinct(&mut self) -> Decoded<()> {
        match self.json_type()? {
            JsonType::Object => {
                let mut first = self.open_object()?;
                let mut keys = Vec::new();
                while let Some(key) = self.next_key(&mut first)? {
                    self.skip_distinct().map_err(|error| error.in_member(&key))?;
                    keys.push(key);
                }
                match first_duplicate(keys.iter().map(|key| &**key)) {
                    Some(key) => Err(self.duplicate(key)),
                    None => Ok(()),
                }
            }
            JsonType::Array => self.array(Self::skip_distinct),
            _ => self.skip(),
        }
    }

    /// Skips the next value, checked as [`Self::raw`] checks it.
    fn skip(&mut self) -> Decoded<()> {
        self.skip_space();
        // Most skipped members hold a string without escapes.
        if self.byte() == Some(b'"') {
            let start = self.position + 1;
            let end = start + plain_prefix(&self.text.as_bytes()[start..]);
            if self.text.as_bytes().get(end) == Some(&b'"') {
                self.position = end + 1;
                return Ok(());
            }
        }
        self.raw().map(drop)
    }

    /// Opens an object, and says whether its first member is the next.
    ///
    /// # Errors
    /// When the next value is none.
    pub(crate) fn open_object(&mut self) -> Decoded<bool> {
        self.expect(b'{', JsonType::Object)?;
        let start = self.position;
        self.descend()?;
        let resumed = self.envelope.as_ref().and_then(|envelope| envelope.resumes(start));
        self.position = resumed.unwrap_or(self.position);
        Ok(resumed.is_none())
    }

    /// The next key of the object that is open, with the cursor on its value; `None` closes the object.
    pub(crate) fn next_key(&mut self, first: &mut bool) -> Decoded<Option<Cow<'a, str>>> {
        if !self.next_item(b'}', first, "`,` or `}`")? {
            return Ok(None);
        }
        self.skip_space();
        if self.byte() != Some(b'"') {
            return Err(self.syntax("a member's name"));
        }
        let key = self.quoted()?;
        self.skip_space();
        if self.byte() != Some(b':') {
            return Err(self.syntax("`:`"));
        }
        self.position += 1;
        Ok(Some(key))
    }

    /// Reads an array, each element by `element`.
    ///
    /// # Errors
    /// When the next value is none, or an element can't be decoded.
    pub fn array(&mut self, mut element: impl FnMut(&mut Self) -> Decoded<()>) -> Decoded<()> {
        self.expect(b'[', JsonType::Array)?;
        self.descend()?;
        let mut first = true;
        let mut index = 0;
        while self.next_item(b']', &mut first, "`,` or `]`")? {
            element(self).map_err(|error| error.in_element(index))?;
            index += 1;
        }
        Ok(())
    }

    /// Reads the next value as a `T`.
    ///
    /// # Errors
    /// When a `T` can't hold it.
    #[inline]
    pub fn decode<T: Decode>(&mut self) -> Decoded<T> {
        T::decode(self)
    }

    /// Reads the end of the text.
    ///
    /// # Errors
    /// When anything but white space is left.
    pub fn finish(mut self) -> Decoded<()> {
        self.skip_space();
        match self.byte() {
            None => Ok(()),
            Some(_) => Err(self.syntax("the end of the text")),
        }
    }

    /// Whether another item follows in the array or object that is open; closes it if not.
    fn next_item(&mut self, close: u8, first: &mut bool, expected: &'static str) -> Decoded<bool> {
        self.skip_space();
        let was_first = std::mem::replace(first, false);
        match self.byte() {
            Some(byte) if byte == close => {
                self.position += 1;
                self.depth -= 1;
                Ok(false)
            }
            Some(b',') if !was_first => {
                self.position += 1;
                self.skip_space();
                if self.byte() == Some(close) {
                    return Err(self.syntax("another item after the comma"));
                }
                Ok(true)
            }
            Some(_) if was_first => Ok(true),
            _ => Err(self.syntax(expected)),
        }
    }

    fn descend(&mut self) -> Decoded<()> {
        if self.depth == MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        self.position += 1;
        Ok(())
    }

    /// Goes to the next value, which must be of the type that this byte starts.
    fn expect(&mut self, start: u8, json_type: JsonType) -> Decoded<()> {
        self.skip_space();
        if self.byte() == Some(start) {
            return Ok(());
        }
        let found = self.json_type()?;
        Err(self.wrong_type(json_type.with_article(), found))
    }

    fn number_text(&mut self, expected: &'static str) -> Decoded<&'a str> {
        let found = self.json_type()?;
        if found != JsonType::Number {
            return Err(self.wrong_type(expected, found));
        }
        let rest = &self.text[self.position..];
        let end = rest
            .bytes()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
            .unwrap_or(rest.len());
        Ok(&rest[..end])
    }

    fn literal(&mut self, literal: &'static str) -> Decoded<()> {
        if !self.text[self.position..].starts_with(literal) {
            return Err(self.syntax(literal));
        }
        self.position += literal.len();
        Ok(())
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.position += 1;
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    /// The error for a value of another type than the one that is held here.
    #[must_use]
    pub fn wrong_type(&self, expected: impl Into<Cow<'static, str>>, found: JsonType) -> DecodeError {
        let kind = DecodeErrorKind::WrongType;
        DecodeError::new(kind, expected, found.with_article(), self.position)
    }

    /// The error for a required member that is absent from the object that ends here.
    #[must_use]
    pub fn missing(&self, member: &str) -> DecodeError {
        let kind = DecodeErrorKind::MissingMember;
        DecodeError::new(kind, "a required member", "nothing", self.position).in_member(member)
    }

    /// The error for a tag whose value is none of those that are known.
    #[must_use]
    pub fn unknown_tag(&self, member: &str, value: &str) -> DecodeError {
        let found = format!("{:?}", shortened(value));
        DecodeError::new(DecodeErrorKind::UnknownTag, "a known value", found, self.position).in_member(member)
    }

    /// The error for a second member of the same name.
    pub(crate) fn duplicate(&self, member: &str) -> DecodeError {
        let kind = DecodeErrorKind::DuplicateMember;
        DecodeError::new(kind, "the member once", "it again", self.position).in_member(member)
    }

    fn too_deep(&self) -> DecodeError {
        let expected = format!("at most {MAX_DEPTH} levels of nesting");
        DecodeError::new(DecodeErrorKind::TooDeep, expected, "deeper ones", self.position)
    }

    pub(crate) fn syntax(&self, expected: &'static str) -> DecodeError {
        let found = match self.text[self.position..].chars().next() {
            Some(character) => Cow::Owned(format!("{character:?} at byte {}", self.position)),
            None => Cow::Borrowed("the end of the text"),
        };
        DecodeError::new(DecodeErrorKind::Syntax, expected, found, self.position)
    }

    /// How many bytes have been read.
    pub(crate) fn position(&self) -> usize {
        self.position
    }
}

/// Whether arrays and objects are nested deeper than `limit` in a text that is known to be JSON.
fn nested_deeper_than(json: &str, limit: usize) -> bool {
    // A level takes two bytes. Most texts hold fewer brackets than they may have levels, and counting is far cheaper than
    // following strings.
    if json.len() <= 2 * limit || brackets(json.as_bytes()) <= limit {
        return false;
    }
    let bytes = json.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b'}' | b']' => depth -= 1,
            b'"' => at = string_end(bytes, at),
            _ => {}
        }
    }
    false
}
