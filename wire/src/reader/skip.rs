//! Going past values without decoding them.

use std::collections::HashSet;

use super::scan::scan_value;
use super::{JsonType, MAX_DEPTH, Reader};
use crate::error::Decoded;

impl<'a> Reader<'a> {
    /// Reads the next value as text. The text is checked to be JSON and not nested too deep, but it isn't parsed.
    ///
    /// # Errors
    /// When it isn't JSON, or is nested too deep.
    pub fn raw(&mut self) -> Decoded<&'a str> {
        let (text, depth) = self.raw_at_any_depth()?;
        if depth > MAX_DEPTH - self.depth {
            self.position -= text.len();
            return Err(self.too_deep());
        }
        Ok(text)
    }

    /// Reads the next value by `read`, and returns its text.
    ///
    /// # Errors
    /// When `read` fails.
    pub fn text_of(&mut self, read: impl FnOnce(&mut Self) -> Decoded<()>) -> Decoded<&'a str> {
        self.skip_space();
        let start = self.position;
        read(self)?;
        Ok(&self.text[start..self.position])
    }

    /// Reads the next value as [`Self::raw`] does, without a limit on its depth.
    pub(crate) fn text_at_any_depth(&mut self) -> Decoded<&'a str> {
        self.raw_at_any_depth().map(|(text, _)| text)
    }

    fn raw_at_any_depth(&mut self) -> Decoded<(&'a str, usize)> {
        self.skip_space();
        let start = self.position;
        let (end, depth) = scan_value(self.text.as_bytes(), start).ok_or_else(|| self.syntax("a JSON value"))?;
        self.position = end;
        Ok((&self.text[start..end], depth))
    }

    /// Checks that no object in the next value has a member twice. The cursor stays.
    ///
    /// # Errors
    /// When one has, or the value isn't JSON.
    pub fn check_distinct(&mut self) -> Decoded<()> {
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
    pub(crate) fn skip(&mut self) -> Decoded<()> {
        self.raw().map(drop)
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
