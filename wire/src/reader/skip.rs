//! Skipping values without decoding them.

use std::collections::HashSet;

use super::scan::{Scanned, scan_distinct, scan_value, string_end};
use super::{JsonType, MAX_DEPTH, Reader};
use crate::error::{DecodeError, Decoded};

impl<'a> Reader<'a> {
    /// Reads the next value as text. The text is checked to be JSON and not nested too deep, but it isn't parsed.
    ///
    /// # Errors
    /// When it isn't JSON, or is nested too deep.
    pub fn raw(&mut self) -> Decoded<&'a str> {
        self.raw_with_nulls().map(|(text, _)| text)
    }

    /// Does the same, and also returns whether there may be a `null` in the value.
    ///
    /// # Errors
    /// Those of [`Self::raw`].
    pub fn raw_with_nulls(&mut self) -> Decoded<(&'a str, bool)> {
        let (text, scanned) = self.raw_at_any_depth()?;
        if scanned.depth > MAX_DEPTH - self.depth {
            self.position -= text.len();
            return Err(self.too_deep());
        }
        Ok((text, scanned.has_null))
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
    ///
    /// # Errors
    /// When it isn't JSON.
    pub fn text_at_any_depth(&mut self) -> Decoded<&'a str> {
        self.raw_at_any_depth().map(|(text, _)| text)
    }

    fn raw_at_any_depth(&mut self) -> Decoded<(&'a str, Scanned)> {
        self.skip_space();
        let start = self.position;
        let (scanned, is_plain) = match self.known_value() {
            Some(place) => (Scanned::known(place.end), place.is_plain),
            None => {
                let bytes = self.text.as_bytes();
                let scanned = match self.byte() {
                    Some(b'"') => string_end(bytes, start + 1).map(|(end, is_plain)| (Scanned::string(end), is_plain)),
                    _ => scan_value(bytes, start).map(|scanned| (scanned, false)),
                };
                scanned.ok_or_else(|| self.malformed())?
            }
        };
        self.position = scanned.end;
        self.deepest = self.deepest.max(self.depth + scanned.depth);
        let text = &self.text[start..scanned.end];
        if let Some(remembered) = &mut self.remembered {
            remembered.mark(start, text, is_plain);
        }
        Ok((text, scanned))
    }

    /// Finds the syntax error in the next value, which isn't JSON. The cursor doesn't move.
    #[cold]
    fn malformed(&mut self) -> DecodeError {
        let start = (self.position, self.depth);
        let looked = self.look_for_syntax();
        let error = looked.err().unwrap_or_else(|| self.syntax("a JSON value"));
        (self.position, self.depth) = start;
        error
    }

    fn look_for_syntax(&mut self) -> Decoded<()> {
        self.skip_space();
        match self.byte() {
            Some(b'{') => self.members(|reader, name| reader.look_for_syntax().map_err(|error| error.in_member(&name))),
            Some(b'[') => self.array(Self::look_for_syntax),
            Some(b'"') => self.quoted().map(drop),
            _ => {
                let scanned = scan_value(self.text.as_bytes(), self.position);
                self.position = scanned.ok_or_else(|| self.syntax("a JSON value"))?.end;
                Ok(())
            }
        }
    }

    /// Checks that no object in the next value has a duplicate member. The cursor doesn't move.
    ///
    /// # Errors
    /// When one has a duplicate member, or the value isn't JSON.
    pub fn check_distinct(&mut self) -> Decoded<()> {
        let start = self.position;
        self.skip_distinct()?;
        self.position = start;
        Ok(())
    }

    /// Checks that no name of an object's members occurs twice.
    ///
    /// # Errors
    /// When a name occurs twice.
    pub fn check_names<'n>(&self, names: impl ExactSizeIterator<Item = &'n str> + Clone) -> Decoded<()> {
        match first_duplicate(names) {
            Some(name) => Err(self.duplicate(name)),
            None => Ok(()),
        }
    }

    /// Skips the next value. A duplicate member of an object in it is an error.
    pub(crate) fn skip_distinct(&mut self) -> Decoded<()> {
        self.skip_space();
        match scan_distinct(self.text.as_bytes(), self.position) {
            Some(scanned) if scanned.depth <= MAX_DEPTH - self.depth => {
                self.position = scanned.end;
                self.deepest = self.deepest.max(self.depth + scanned.depth);
                Ok(())
            }
            _ => self.look_for_distinct(),
        }
    }

    /// Does the same recursively, for names with escapes, and to find the error.
    fn look_for_distinct(&mut self) -> Decoded<()> {
        match self.json_type()? {
            JsonType::Object => {
                let mut first = self.open_object()?;
                let mut keys = Vec::new();
                while let Some(key) = self.next_key(&mut first)? {
                    self.look_for_distinct().map_err(|error| error.in_member(&key))?;
                    keys.push(key);
                }
                self.check_names(keys.iter().map(|key| &**key))
            }
            JsonType::Array => self.array(Self::look_for_distinct),
            _ => self.skip(),
        }
    }

    /// Skips the next value, with the checks of [`Self::raw`].
    pub(crate) fn skip(&mut self) -> Decoded<()> {
        self.raw().map(drop)
    }
}

/// The number of names up to which comparing each with each is faster than hashing them.
const FEW: usize = 12;

fn first_duplicate<'n>(mut names: impl ExactSizeIterator<Item = &'n str> + Clone) -> Option<&'n str> {
    if names.len() <= FEW {
        let mut rest = names.clone().enumerate();
        return rest.find_map(|(at, name)| names.clone().take(at).any(|other| other == name).then_some(name));
    }
    hashed_duplicate(&mut names)
}

/// Not generic over the names, so that the code of the hash table is compiled only once.
fn hashed_duplicate<'n>(mut names: &mut dyn ExactSizeIterator<Item = &'n str>) -> Option<&'n str> {
    let mut seen = HashSet::with_capacity(names.len());
    Iterator::find(&mut names, |name| !seen.insert(*name))
}
