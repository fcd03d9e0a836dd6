//! A pull reader over a JSON text: one pass, no buffering, and a cursor that can look ahead.
//!
//! The text is one slice, so the reader can look ahead for the tag of a union and go back without a copy. A tag that
//! comes first costs one comparison.

mod accepted;
mod budget;
mod containers;
mod envelope;
mod errors;
mod known;
mod look_ahead;
mod scalars;
mod scan;
mod skip;
mod source;

use mcp_json_schema::JsonType;

use crate::error::{DecodeError, DecodeErrorKind, Decoded};
use crate::known::{KnownJson, Places};

use self::known::Known;

pub use look_ahead::Discriminator;

pub(crate) use budget::ALLOCATION;
pub(crate) use envelope::{Envelope, VERSION};

/// The maximum depth of nested arrays and objects in a decoded value, open JSON included: 128 levels.
// A value that was read is validated without another check of its depth.
pub const MAX_DEPTH: usize = mcp_json_schema::MAX_DEPTH;

/// A position in a JSON text.
#[derive(Debug)]
pub struct Reader<'a> {
    text: &'a str,
    /// The start of a character, or the end of the text, so that the text can be sliced there.
    position: usize,
    depth: usize,
    /// The number of bytes of memory that the rest of the text can take.
    budget: usize,
    /// The maximum depth so far.
    deepest: usize,
    /// The values that are known to be JSON, so that they needn't be read.
    known: Known<'a>,
    /// The values that have been read as text, if they are remembered.
    remembered: Option<Places>,
    /// The envelope of the message that is being read, if the next object is a message.
    pub(crate) envelope: Option<Envelope>,
    /// If undeclared members are left out: the member in whose value they are kept.
    pub(crate) open_member: Option<&'static str>,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of `text`.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            position: 0,
            depth: 0,
            budget: budget::budget(text),
            deepest: 0,
            known: Known::default(),
            remembered: None,
            envelope: None,
            open_member: None,
        }
    }

    /// Leaves out the members that the types of objects don't declare, except those in the values of members with the
    /// name `open`.
    #[must_use]
    pub fn without_undeclared(mut self, open: &'static str) -> Self {
        self.open_member = Some(open);
        self
    }

    /// Creates a reader at the start of `bytes`.
    ///
    /// # Errors
    /// When they aren't UTF-8.
    pub fn from_slice(bytes: &'a [u8]) -> Decoded<Self> {
        std::str::from_utf8(bytes).map(Self::new).map_err(|error| {
            let offset = error.valid_up_to();
            let found = format!("other bytes at byte {offset}");
            DecodeError::new(DecodeErrorKind::Syntax, "UTF-8", found, offset)
        })
    }

    /// Creates a reader at the start of a text in which some values are known. Their depth isn't checked again.
    #[must_use]
    pub fn of_known(json: &'a KnownJson) -> Self {
        Self {
            known: Known::new(json),
            ..Self::new(json.text())
        }
    }

    /// Creates a reader at the start of a text whose values at `places` are known, and whose maximum depth is `deepest`.
    pub(crate) fn of_places(text: &'a str, places: &'a Places, deepest: usize) -> Self {
        let known = match deepest <= MAX_DEPTH {
            true => Known::at(&places.0),
            false => Known::default(),
        };
        Self {
            known,
            deepest,
            ..Self::new(text)
        }
    }

    /// Moves the reader to `start`.
    #[must_use]
    pub fn starting_at(self, start: usize) -> Self {
        // A position within a character is treated as the end of the text.
        let position = if self.text.is_char_boundary(start) {
            start
        } else {
            self.text.len()
        };
        Self { position, ..self }
    }

    /// Remembers the values that are read as text from now on.
    #[must_use]
    pub fn remembering(mut self) -> Self {
        self.remember();
        self
    }

    /// Remembers the values that are read as text from now on.
    pub fn remember(&mut self) {
        self.remembered = Some(Places::default());
    }

    /// Returns the values that have been read as text, if they were remembered.
    pub fn take_remembered(&mut self) -> Places {
        self.remembered.take().unwrap_or_default()
    }

    /// Returns the maximum depth of the arrays and objects that have been read, except those inside known values.
    #[must_use]
    pub fn deepest(&self) -> usize {
        self.deepest
    }

    /// Returns the whole text.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the type of the next value. The cursor doesn't move.
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

    /// Reads the whole text by `read`.
    #[inline]
    pub(crate) fn whole<T>(mut self, read: impl FnOnce(&mut Self) -> Decoded<T>) -> Decoded<T> {
        let result = read(&mut self);
        if result.is_ok() {
            self.finish()?;
        }
        result
    }

    /// Reads the end of the text.
    ///
    /// # Errors
    /// When the rest of the text isn't only white space.
    pub fn finish(mut self) -> Decoded<()> {
        self.skip_space();
        match self.byte() {
            None => Ok(()),
            Some(_) => Err(self.syntax("the end of the text")),
        }
    }

    /// Goes to the next value, which must be of the type whose first byte is `start`.
    fn expect(&mut self, start: u8, json_type: JsonType) -> Decoded<()> {
        self.skip_space();
        if self.byte() == Some(start) {
            return Ok(());
        }
        let found = self.json_type()?;
        Err(self.wrong_type(json_type.with_article(), found))
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.position += 1;
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    /// Returns the text that hasn't been read.
    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    /// Returns the number of bytes that have been read.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }
}
