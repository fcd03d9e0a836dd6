//! Where a JSON value ends. Its grammar is checked on the way, and nothing is kept of it.

use crate::text::plain_prefix;

/// The end of the JSON value at `at`, where no white space is, and how deep it is nested; `None` if it isn't JSON.
pub(super) fn scan_value(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    scan(bytes, at, &mut ())
}

/// The same of a value in which no object has a member twice; `None` also if that can't be told by the bytes of the names.
pub(super) fn scan_distinct(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    scan(bytes, at, &mut Distinct::default())
}

/// What is looked at besides the grammar.
trait Look<'b> {
    fn open(&mut self) {}

    fn close(&mut self) {}

    /// Looks at a name of the innermost object, as it is written, and returns whether to go on.
    fn name(&mut self, _name: &'b [u8]) -> bool {
        true
    }
}

/// Nothing.
impl Look<'_> for () {}

/// The names of the open objects so far, by their places in `bytes`.
#[derive(Default)]
struct Distinct<'b> {
    names: Vec<&'b [u8]>,
    /// Where those of each open container begin.
    starts: Vec<usize>,
}

/// The number of names up to which comparing each with each is fast.
const FEW: usize = 32;

impl<'b> Look<'b> for Distinct<'b> {
    fn open(&mut self) {
        self.starts.push(self.names.len());
    }

    fn close(&mut self) {
        self.names.truncate(self.starts.pop().unwrap_or_default());
    }

    fn name(&mut self, name: &'b [u8]) -> bool {
        let start = self.starts.last().copied().unwrap_or_default();
        let others = &self.names[start..];
        let is_new = others.len() < FEW && !name.contains(&b'\\') && !others.contains(&name);
        self.names.push(name);
        is_new
    }
}

fn scan<'b, L: Look<'b>>(bytes: &'b [u8], mut at: usize, look: &mut L) -> Option<(usize, usize)> {
    let mut open = OpenContainers::default();
    loop {
        at = match *bytes.get(at)? {
            b'"' => string_end(bytes, at + 1)?,
            opening @ (b'{' | b'[') => {
                let is_object = opening == b'{';
                open.push(is_object);
                look.open();
                at = space_end(bytes, at + 1);
                if bytes.get(at) != Some(&closing(is_object)) {
                    at = if is_object { key_end(bytes, at, look)? } else { at };
                    continue;
                }
                // What follows sees the end of the empty container.
                at
            }
            b't' => literal_end(bytes, at, b"true")?,
            b'f' => literal_end(bytes, at, b"false")?,
            b'n' => literal_end(bytes, at, b"null")?,
            _ => number_end(bytes, at)?,
        };
        // The value has ended: containers end with it, or a comma leads to the next one.
        loop {
            let Some(is_object) = open.last() else {
                return Some((at, open.deepest));
            };
            at = space_end(bytes, at);
            match *bytes.get(at)? {
                b',' => {
                    at = space_end(bytes, at + 1);
                    at = if is_object { key_end(bytes, at, look)? } else { at };
                    break;
                }
                byte if byte == closing(is_object) => {
                    open.pop();
                    look.close();
                    at += 1;
                }
                _ => return None,
            }
        }
    }
}

fn closing(is_object: bool) -> u8 {
    if is_object { b'}' } else { b']' }
}

/// The start of the value whose key starts at `at`.
fn key_end<'b, L: Look<'b>>(bytes: &'b [u8], at: usize, look: &mut L) -> Option<usize> {
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let end = string_end(bytes, at + 1)?;
    if !look.name(&bytes[at + 1..end - 1]) {
        return None;
    }
    let colon = space_end(bytes, end);
    (*bytes.get(colon)? == b':').then(|| space_end(bytes, colon + 1))
}

fn space_end(bytes: &[u8], mut at: usize) -> usize {
    // Most JSON is written without white space, which one comparison shows.
    while let Some(byte) = bytes.get(at)
        && *byte <= b' '
        && matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
    {
        at += 1;
    }
    at
}

/// The end of the string whose content starts at `at`.
#[inline]
pub(super) fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let end = at + plain_prefix(bytes.get(at..)?);
    match bytes.get(end)? {
        b'"' => Some(end + 1),
        _ => escaped_string_end(bytes, end),
    }
}

/// The same where an escape is at `at`. Not inline, because few strings have one.
#[inline(never)]
fn escaped_string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at = escape_end(bytes, at + 1)?,
            _ => return None,
        }
        at += plain_prefix(&bytes[at..]);
    }
}

/// The end of the escape whose letter is at `at`. Whether units of UTF-16 are pairs is checked when the string is read.
fn escape_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 1),
        b'u' => {
            let digits = bytes.get(at + 1..at + 5)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(at + 5)
        }
        _ => None,
    }
}

/// The end of the literal whose first byte is at `at`.
fn literal_end(bytes: &[u8], at: usize, literal: &[u8]) -> Option<usize> {
    bytes[at..].starts_with(literal).then_some(at + literal.len())
}

/// The end of the number whose first byte is at `at`.
fn number_end(bytes: &[u8], at: usize) -> Option<usize> {
    let digits_end = |at: usize| {
        let end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        (end > at).then_some(end)
    };
    let start = if bytes[at] == b'-' { at + 1 } else { at };
    let mut end = match bytes.get(start)? {
        b'0' => start + 1,
        _ => digits_end(start)?,
    };
    if bytes.get(end) == Some(&b'.') {
        end = digits_end(end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        end = digits_end(end + 1 + usize::from(sign))?;
    }
    Some(end)
}

/// The containers that are open, each a bit that distinguishes objects from arrays: nesting takes little memory, however deep it is.
#[derive(Default)]
struct OpenContainers {
    /// The last ones, up to 64. The lowest bit is the innermost.
    last: u64,
    depth: usize,
    /// The greatest depth so far.
    deepest: usize,
    /// Those around them, 64 in each.
    outer: Vec<u64>,
}

impl OpenContainers {
    /// Whether the innermost is an object; `None` if none is open.
    fn last(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.last & 1 == 1)
    }

    fn push(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.outer.push(self.last);
        }
        self.last = self.last << 1 | u64::from(is_object);
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.last >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.last = self.outer.pop().unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::scan_value;

    /// Where serde_json says that the value at the start ends.
    fn expected(text: &str) -> Option<usize> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Box<RawValue>>();
        Some(values.next()?.ok()?.get().len())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn values_end_where_serde_json_says(pieces in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"a\":", "\"", "\\", "\\n", "\\u00e9", "\\ud800", "\\x", "é", " ", "\n",
            "0", "1", "-", "1.5", "0.", ".5", "e5", "E+1", "01", "true", "false", "null", "tru", "\u{1}",
            "\"01234567890123456789012345678901234567890123456789012345678901234567890123456789\"",
        ]), 1..12)) {
            let text = pieces.concat();
            let text = text.trim_start();
            // What may follow a value isn't looked at, but serde_json looks at what follows a scalar.
            let end = scan_value(text.as_bytes(), 0).map(|(end, _)| end);
            if let Some(expected) = expected(text) {
                prop_assert_eq!(end, Some(expected), "{}", text);
            }
            if let Some(end) = end {
                prop_assert_eq!(expected(&text[..end]), Some(end), "{}", text);
            }
        }
    }

    #[test]
    fn nesting_is_followed_to_any_depth() {
        for depth in [1, 63, 64, 65, 127, 128, 129, 1000] {
            let text = "[{\"a\":".repeat(depth) + "1" + &"}]".repeat(depth);
            assert_eq!(scan_value(text.as_bytes(), 0), Some((text.len(), 2 * depth)), "{depth}");
            let crossed = text.replacen("}]", "]}", 1);
            assert_eq!(scan_value(crossed.as_bytes(), 0), None, "{depth}");
        }
    }
}
