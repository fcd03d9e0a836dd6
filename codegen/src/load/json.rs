//! A JSON reader that keeps the place of every value. Scalars are serde_json's work; the structure is read here, because
//! serde_json has no places, recurses as it likes and lets the last of two equal names win.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::document::MAX_DEPTH;
use super::places::{Locator, Places, Within};
use super::pointer;
use crate::problem::{Problem, Problems};

/// Reads a whole text as one JSON value.
pub(super) fn parse(file: &str, text: &str) -> Result<(Value, Places), Problems> {
    let mut reader = Reader {
        file,
        text,
        offset: 0,
        locator: Locator::new(text),
        pointer: String::from("#"),
        doubled: Vec::new(),
    };
    let read = reader.value(0)?;
    reader.skip_space();
    if reader.offset < text.len() {
        return Err(reader.problem("text after the end of the value").into());
    }
    Problems::check(reader.doubled)?;
    Ok(read)
}

struct Reader<'text> {
    file: &'text str,
    text: &'text str,
    offset: usize,
    locator: Locator<'text>,
    /// Where the reader is, kept up to date on the way down and up.
    pointer: String,
    /// Names that an object has twice: the reading goes on, so that all are found.
    doubled: Vec<Problem>,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<(Value, Places), Problem> {
        self.skip_space();
        if depth > MAX_DEPTH {
            return Err(self.problem(format!("nested more than {MAX_DEPTH} deep")));
        }
        let place = self.locator.at(self.offset);
        let (value, within) = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => (Value::String(self.string()?), Within::Nothing),
            Some(_) => (self.word()?, Within::Nothing),
            None => return Err(self.problem("the text ends where a value should stand")),
        };
        Ok((value, Places { place, within }))
    }

    fn object(&mut self, depth: usize) -> Result<(Value, Within), Problem> {
        let (mut members, mut places) = (Map::new(), BTreeMap::new());
        self.offset += 1;
        if self.next_is(b'}') {
            return Ok((Value::Object(members), Within::Members(places)));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.problem("a member's name in double quotes should stand here"));
            }
            let name_at = self.offset;
            let name = self.string()?;
            if !self.next_is(b':') {
                return Err(self.problem("`:` should stand here"));
            }
            let above = self.pointer.len();
            pointer::push(&mut self.pointer, &name);
            if members.contains_key(&name) {
                let place = self.locator.at(name_at);
                self.doubled.push(duplicate(self.file, &self.pointer).at(place));
            }
            let (value, within) = self.value(depth + 1)?;
            self.pointer.truncate(above);
            members.insert(name.clone(), value);
            places.insert(name, within);
            if self.next_is(b'}') {
                return Ok((Value::Object(members), Within::Members(places)));
            }
            if !self.next_is(b',') {
                return Err(self.problem("`,` or `}` should stand here"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<(Value, Within), Problem> {
        let (mut elements, mut places) = (Vec::new(), Vec::new());
        self.offset += 1;
        if self.next_is(b']') {
            return Ok((Value::Array(elements), Within::Elements(places)));
        }
        loop {
            let above = self.pointer.len();
            pointer::push(&mut self.pointer, &elements.len().to_string());
            let (value, within) = self.value(depth + 1)?;
            self.pointer.truncate(above);
            elements.push(value);
            places.push(within);
            if self.next_is(b']') {
                return Ok((Value::Array(elements), Within::Elements(places)));
            }
            if !self.next_is(b',') {
                return Err(self.problem("`,` or `]` should stand here"));
            }
        }
    }

    fn string(&mut self) -> Result<String, Problem> {
        let bytes = self.text.as_bytes();
        let mut end = self.offset + 1;
        while let Some(byte) = bytes.get(end) {
            match byte {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        let Some(token) = self.text.get(self.offset..=end) else {
            return Err(self.problem("this string has no end"));
        };
        let text = serde_json::from_str(token)
            .map_err(|_| self.problem("this string holds a bare control character or a broken escape"))?;
        self.offset = end + 1;
        Ok(text)
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Value, Problem> {
        let rest = &self.text[self.offset..];
        let length = rest
            .find(|char: char| !(char.is_ascii_alphanumeric() || matches!(char, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        let value = serde_json::from_str(&rest[..length]).map_err(|_| self.problem("no JSON value stands here"))?;
        self.offset += length;
        Ok(value)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.offset += 1;
        }
    }

    /// Skips space, and `byte` if it is next.
    fn next_is(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.offset += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.offset).copied()
    }

    fn problem(&mut self, what: impl Into<String>) -> Problem {
        let place = self.locator.at(self.offset);
        Problem::new(self.file, what)
            .at(place)
            .pointer(&self.pointer)
            .help("the file is damaged or is no JSON: get it again; a YAML file needs a name that ends in .yaml")
    }
}

/// A member that stands twice in its object.
pub(super) fn duplicate(file: &str, pointer: &str) -> Problem {
    Problem::new(file, "this name stands twice in its object")
        .pointer(pointer)
        .help("remove one of the two: readers differ in which one they take")
}
