//! Going past values without decoding them.

use std::collections::HashSet;

use serde_core::Deserialize;
use serde_json::value::RawValue;

use super::value_end::value_end;
use super::{JsonType, MAX_DEPTH, Reader};
use crate::error::Decoded;
use crate::text::{brackets, string_end};

impl<'a> Reader<'a> {
    /// Reads the next value as text. The text is checked to be JSON and not nested too deep, but it isn't parsed.
    ///
    /// # Errors
    /// When it isn't JSON, or is nested too deep.
    pub fn raw(&mut self) -> Decoded<&'a RawValue> {
        self.skip_space();
        let start = self.position;
        let mut value = serde_json::Deserializer::from_str(&self.text[start..]);
        let raw = <&'a RawValue>::deserialize(&mut value).map_err(|_| self.syntax("a JSON value"))?;
        self.position += raw.get().len();
        if nested_deeper_than(raw.get(), MAX_DEPTH - self.depth) {
            self.position = start;
            return Err(self.too_deep());
        }
        Ok(raw)
    }

    /// Reads the next value as text that is checked to be JSON, without a limit on its depth.
    pub(crate) fn text_at_any_depth(&mut self) -> Decoded<&'a str> {
        self.skip_space();
        let start = self.position;
        let end = value_end(self.text.as_bytes(), start).ok_or_else(|| self.syntax("a JSON value"))?;
        self.position = end;
        Ok(&self.text[start..end])
    }

    /// Checks that no object in the next value has a member twice. The cursor stays.
    pub(crate) fn check_distinct(&mut self) -> Decoded<()> {
        let start = self.position;
        self.skip_distinct()?;
        self.position = start;
        Ok(())
    }

    /// Skips the next value. An object in it that has a member twice is an error.
    fn skip_distinct(&mut self) -> Decoded<()> {
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

    /// Skips the next value, with the checks of [`Self::raw`].
    pub(super) fn skip(&mut self) -> Decoded<()> {
        self.skip_space();
        let start = self.position;
        let text = self.text_at_any_depth()?;
        if nested_deeper_than(text, MAX_DEPTH - self.depth) {
            self.position = start;
            return Err(self.too_deep());
        }
        Ok(())
    }
}

/// The first key that occurs a second time.
pub(crate) fn first_duplicate<'k>(keys: impl ExactSizeIterator<Item = &'k str>) -> Option<&'k str> {
    if keys.len() < 2 {
        return None;
    }
    let mut seen = HashSet::with_capacity(keys.len());
    keys.into_iter().find(|key| !seen.insert(*key))
}

/// Whether arrays and objects are nested deeper than `limit` in `json`, which must be valid JSON.
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
