//! Strings, numbers, booleans and `null`.

use std::borrow::Cow;

use mcp_json_schema::{Decimal, Integral, shortened};

use super::{JsonType, Reader};
use crate::error::{DecodeError, DecodeErrorKind, Decoded};
use crate::known::Place;
use crate::number::Number;
use crate::text::{escape, plain_prefix};

impl<'a> Reader<'a> {
    /// Reads a string.
    ///
    /// # Errors
    /// When the next value isn't a string.
    pub fn string(&mut self) -> Decoded<Cow<'a, str>> {
        self.expect(b'"', JsonType::String)?;
        match self.known_value() {
            Some(Place {
                start,
                end,
                is_plain: true,
            }) => {
                self.position = end;
                Ok(Cow::Borrowed(&self.text[start + 1..end - 1]))
            }
            _ => self.quoted(),
        }
    }

    /// Reads the string whose opening quote is the next byte.
    pub(super) fn quoted(&mut self) -> Decoded<Cow<'a, str>> {
        let start = self.position + 1;
        let end = start + plain_prefix(&self.text.as_bytes()[start..]);
        if self.text.as_bytes().get(end) == Some(&b'"') {
            self.position = end + 1;
            return Ok(Cow::Borrowed(&self.text[start..end]));
        }
        self.unescaped(start, end).map(Cow::Owned)
    }

    /// Reads a string from `start` whose first escape is at `at`. Not inlined, because few strings have one.
    #[inline(never)]
    fn unescaped(&mut self, start: usize, at: usize) -> Decoded<String> {
        let mut unescaped = String::new();
        self.escaped_string(start, at, |part, character| {
            unescaped.push_str(part);
            if let Some(character) = character {
                unescaped.push(character);
            }
        })?;
        // Spare capacity is released, because a string is charged by the length of its text.
        unescaped.shrink_to_fit();
        Ok(unescaped)
    }

    /// Skips a string, with the checks of [`Self::string`], but without unescaping it.
    ///
    /// # Errors
    /// When the next value isn't a string.
    pub fn skip_string(&mut self) -> Decoded<()> {
        self.expect(b'"', JsonType::String)?;
        match self.known_value() {
            Some(place) if place.is_plain => {
                self.position = place.end;
                Ok(())
            }
            _ => {
                let start = self.position + 1;
                let end = start + plain_prefix(&self.text.as_bytes()[start..]);
                self.escaped_string(start, end, |_, _| {})
            }
        }
    }

    /// Reads a string from `start`, in which no escape is before `at`. `take` gets each part without escapes, and the
    /// character of the escape after it.
    fn escaped_string(
        &mut self,
        mut start: usize,
        mut at: usize,
        mut take: impl FnMut(&str, Option<char>),
    ) -> Decoded<()> {
        let bytes = self.text.as_bytes();
        loop {
            let part = &self.text[start..at];
            match bytes.get(at) {
                Some(b'"') => {
                    take(part, None);
                    break;
                }
                Some(b'\\') => {
                    let escape = escape(&self.text[at..]);
                    let (character, length) = escape.ok_or_else(|| self.syntax_at(at, "a valid escape"))?;
                    take(part, Some(character));
                    start = at + length;
                }
                Some(_) => return Err(self.syntax_at(at, "no unescaped control character")),
                None => return Err(self.syntax_at(at, "the end of the string")),
            }
            at = start + plain_prefix(&bytes[start..]);
        }
        self.position = at + 1;
        Ok(())
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    /// When the next value isn't a boolean.
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
    /// When the next value isn't `null`.
    pub fn null(&mut self) -> Decoded<()> {
        self.expect(b'n', JsonType::Null)?;
        self.literal("null")
    }

    /// Reads a 64-bit integer in any notation: `1`, `1.0` and `10e-1` are the same.
    ///
    /// # Errors
    /// When the next value isn't a number, has a fraction, or doesn't fit.
    pub fn integer(&mut self) -> Decoded<i64> {
        let text = self.number_text("an integer")?;
        if let Some(integer) = short_integer(text) {
            self.position += text.len();
            return Ok(integer);
        }
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
    /// When the next value isn't a number.
    pub fn number(&mut self) -> Decoded<Number> {
        let text = self.number_text("a number")?;
        let number = Number::parse(text).ok_or_else(|| self.syntax("a number"))?;
        self.position += text.len();
        Ok(number)
    }

    /// Reads the next string if it is `text`, written without escapes, and returns whether it was.
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
}

/// Parses an integer in its usual notation with so few digits that it fits.
fn short_integer(text: &str) -> Option<i64> {
    const DIGITS: usize = 18;
    let digits = text.bytes().map(|byte| byte.wrapping_sub(b'0'));
    let is_short = (1..=DIGITS).contains(&text.len()) && (text == "0" || !text.starts_with('0'));
    let integer = |integer: i64, digit: u8| (digit < 10).then(|| integer * 10 + i64::from(digit));
    is_short.then_some(digits)?.try_fold(0, integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_integers_are_parsed_like_other_numbers() {
        let (most, more) = ("9".repeat(18), "9".repeat(19));
        for text in ["0", "7", "1200", &most, &more, "00", "01", "-1", "+1", "1.0", "1e2", ""] {
            let known = Decimal::parse(text).map(|decimal| decimal.integral());
            match (short_integer(text), known) {
                (Some(integer), Some(Integral::Fits(known))) => assert_eq!(integer, known),
                (short, _) => assert!(short.is_none(), "{text}"),
            }
        }
        assert!(short_integer(&most).is_some() && short_integer("0").is_some());
    }
}
