//! Arrays and objects.

use std::borrow::Cow;

use super::{JsonType, MAX_DEPTH, Reader};
use crate::error::Decoded;
use crate::text::plain_prefix;

impl<'a> Reader<'a> {
    /// Opens an object, and returns whether the next member is its first.
    ///
    /// # Errors
    /// When the next value isn't an object.
    pub fn open_object(&mut self) -> Decoded<bool> {
        self.expect(b'{', JsonType::Object)?;
        let start = self.position;
        self.descend()?;
        let resumed = self.envelope.as_ref().and_then(|envelope| envelope.resumes(start));
        self.position = resumed.unwrap_or(self.position);
        Ok(resumed.is_none())
    }

    /// Reads the next key of the open object and stops before its value. `None` closes the object. `first` is the value
    /// that [`open_object`](Self::open_object) returned.
    ///
    /// # Errors
    /// When the text has no key here and doesn't close the object either.
    pub fn next_key(&mut self, first: &mut bool) -> Decoded<Option<Cow<'a, str>>> {
        if let Some(key) = self.compact_key(*first) {
            *first = false;
            return Ok(Some(Cow::Borrowed(key)));
        }
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

    /// Skips the next key of the open object if it is `name`, written without white space and escapes. If not, the
    /// cursor doesn't move. This is faster than [`next_key`](Self::next_key) if the key is expected.
    #[inline]
    pub fn next_key_is(&mut self, first: &mut bool, name: &str) -> bool {
        let start = self.key_start(*first);
        let key = start.map(|start| &self.text.as_bytes()[start..]);
        match key.and_then(|key| key.strip_prefix(name.as_bytes())) {
            Some([b'"', b':', value @ ..]) => {
                self.position = self.text.len() - value.len();
                *first = false;
                true
            }
            _ => false,
        }
    }

    /// Returns the start of the next key's text, if no white space is before it.
    #[inline]
    fn key_start(&self, first: bool) -> Option<usize> {
        match self.text.as_bytes()[self.position..] {
            [b'"', ..] if first => Some(self.position + 1),
            [b',', b'"', ..] if !first => Some(self.position + 2),
            _ => None,
        }
    }

    /// Reads the next key, if it is written without white space and escapes, as most are. If not, the cursor doesn't
    /// move.
    #[inline]
    fn compact_key(&mut self, first: bool) -> Option<&'a str> {
        let start = self.key_start(first)?;
        let rest = &self.text.as_bytes()[start..];
        let length = plain_prefix(rest);
        let [b'"', b':', ..] = rest[length..] else { return None };
        self.position = start + length + 2;
        Some(&self.text[start..start + length])
    }

    /// Reads an object, each member by `member`, which gets its name.
    ///
    /// A name that occurs twice isn't an error here.
    ///
    /// # Errors
    /// When the next value isn't an object, or a member can't be decoded. The path of the error doesn't include the
    /// name of the member, because only `member` has it.
    pub fn members(&mut self, mut member: impl FnMut(&mut Self, Cow<'a, str>) -> Decoded<()>) -> Decoded<()> {
        self.members_by(&mut member)
    }

    /// Does the same, but is compiled only once.
    fn members_by(&mut self, member: &mut dyn FnMut(&mut Self, Cow<'a, str>) -> Decoded<()>) -> Decoded<()> {
        let mut first = self.open_object()?;
        while let Some(key) = self.next_key(&mut first)? {
            member(self, key)?;
        }
        Ok(())
    }

    /// Reads an array, each element by `element`.
    ///
    /// # Errors
    /// When the next value isn't an array, or an element can't be decoded.
    pub fn array(&mut self, mut element: impl FnMut(&mut Self) -> Decoded<()>) -> Decoded<()> {
        self.array_by(&mut element)
    }

    /// Does the same, but is compiled only once.
    fn array_by(&mut self, element: &mut dyn FnMut(&mut Self) -> Decoded<()>) -> Decoded<()> {
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

    /// Returns whether the open array or object has another item, and closes it if not.
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
        self.deepest = self.deepest.max(self.depth);
        self.position += 1;
        Ok(())
    }
}
