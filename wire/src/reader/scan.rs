//! Finding the end of a JSON value, whose grammar is checked without keeping the value.

use crate::text::plain_prefix;

/// The result of scanning a JSON value in a text.
pub(super) struct Scanned {
    pub(super) end: usize,
    pub(super) depth: usize,
    /// Whether there may be a `null` in it, or it may be one.
    pub(super) has_null: bool,
}

impl Scanned {
    pub(super) fn string(end: usize) -> Self {
        Self {
            end,
            depth: 0,
            has_null: false,
        }
    }

    /// A value that isn't scanned, because it is known to be JSON and not nested too deep.
    pub(super) fn known(end: usize) -> Self {
        Self {
            end,
            depth: 0,
            has_null: true,
        }
    }
}

/// Scans the JSON value that starts at `at`. `None` if it isn't JSON.
pub(super) fn scan_value(bytes: &[u8], at: usize) -> Option<Scanned> {
    scan(bytes, at, &mut ())
}

/// Does the same, but also returns `None` if an object in the value has, or might have, a duplicate member: names are
/// compared by their bytes.
pub(super) fn scan_distinct(bytes: &[u8], at: usize) -> Option<Scanned> {
    scan(bytes, at, &mut Distinct::default())
}

/// A check besides that of the grammar.
trait Look<'b> {
    fn open(&mut self) {}

    fn close(&mut self) {}

    /// Checks a name of the innermost object, as it is written, and returns whether to continue.
    fn name(&mut self, _name: &'b [u8]) -> bool {
        true
    }
}

/// No check.
impl Look<'_> for () {}

/// The names in the open objects so far, as slices of `bytes`.
#[derive(Default)]
struct Distinct<'b> {
    names: Vec<&'b [u8]>,
    /// For each open container, the index of its first name.
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

fn scan<'b, L: Look<'b>>(bytes: &'b [u8], mut at: usize, look: &mut L) -> Option<Scanned> {
    let mut open = OpenContainers::default();
    let mut has_null = false;
    loop {
        at = match *bytes.get(at)? {
            b'"' => string_end(bytes, at + 1)?.0,
            opening @ (b'{' | b'[') => {
                let is_object = opening == b'{';
                open.push(is_object);
                look.open();
                at = space_end(bytes, at + 1);
                if bytes.get(at) != Some(&closing(is_object)) {
                    at = if is_object { key_end(bytes, at, look)? } else { at };
                    continue;
                }
                // The loop below handles the end of the empty container.
                at
            }
            b't' => literal_end(bytes, at, b"true")?,
            b'f' => literal_end(bytes, at, b"false")?,
            b'n' => {
                has_null = true;
                literal_end(bytes, at, b"null")?
            }
            _ => number_end(bytes, at)?,
        };
        // After the end of a value, containers end, or a comma precedes the next value.
        loop {
            let Some(is_object) = open.last() else {
                return Some(Scanned {
                    end: at,
                    depth: open.deepest,
                    has_null,
                });
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

/// Returns the start of the value whose key starts at `at`.
fn key_end<'b, L: Look<'b>>(bytes: &'b [u8], at: usize, look: &mut L) -> Option<usize> {
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let (end, _) = string_end(bytes, at + 1)?;
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

/// Returns the end of the string whose content starts at `at`, and whether it has no escapes.
///
/// Always inlined, because nearly every string goes through it, and with only a hint it depends on unrelated code.
#[inline(always)]
pub(super) fn string_end(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let end = at + plain_prefix(bytes.get(at..)?);
    match bytes.get(end)? {
        b'"' => Some((end + 1, true)),
        _ => escaped_string_end(bytes, end).map(|end| (end, false)),
    }
}

/// Returns the end of a string that has an escape at `at`. Not inlined, because few strings have one.
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

/// Returns the end of the escape whose letter is at `at`. Whether units of UTF-16 are pairs is checked when the string
/// is read.
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

/// Returns the end of the literal whose first byte is at `at`.
fn literal_end(bytes: &[u8], at: usize, literal: &[u8]) -> Option<usize> {
    bytes[at..].starts_with(literal).then_some(at + literal.len())
}

/// Returns the end of the number whose first byte is at `at`.
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

/// The open containers, each as a bit that distinguishes objects from arrays, so that even deep nesting takes little
/// memory.
#[derive(Default)]
struct OpenContainers {
    /// The innermost containers, up to 64. The lowest bit is the innermost one.
    last: u64,
    depth: usize,
    /// The maximum depth so far.
    deepest: usize,
    /// The containers around them, 64 in each element.
    outer: Vec<u64>,
}

impl OpenContainers {
    /// Whether the innermost container is an object. `None` if none is open.
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

    /// Returns the end of the first value according to serde_json.
    fn expected(text: &str) -> Option<usize> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Box<RawValue>>();
        Some(values.next()?.ok()?.get().len())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn values_have_the_same_end_as_in_serde_json(pieces in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"a\":", "\"", "\\", "\\n", "\\u00e9", "\\ud800", "\\x", "é", " ", "\n",
            "0", "1", "-", "1.5", "0.", ".5", "e5", "E+1", "01", "true", "false", "null", "tru", "\u{1}",
            "\"01234567890123456789012345678901234567890123456789012345678901234567890123456789\"",
        ]), 1..12)) {
            let text = pieces.concat();
            let text = text.trim_start();
            // The text after a value isn't checked here, but serde_json checks it after a scalar.
            let end = scan_value(text.as_bytes(), 0).map(|scanned| scanned.end);
            if let Some(expected) = expected(text) {
                prop_assert_eq!(end, Some(expected), "{}", text);
            }
            if let Some(end) = end {
                prop_assert_eq!(expected(&text[..end]), Some(end), "{}", text);
            }
        }
    }

    #[test]
    fn a_null_is_noticed_outside_of_strings() {
        let has_null = |text: &str| scan_value(text.as_bytes(), 0).unwrap().has_null;
        assert!(has_null("null") && has_null(r#"[{"a":null}]"#));
        assert!(!has_null(r#"["null",{"null":1}]"#));
    }

    #[test]
    fn deep_nesting_is_scanned_without_a_limit() {
        for depth in [1, 63, 64, 65, 127, 128, 129, 1000] {
            let text = "[{\"a\":".repeat(depth) + "1" + &"}]".repeat(depth);
            let scanned = scan_value(text.as_bytes(), 0).unwrap();
            assert_eq!((scanned.end, scanned.depth), (text.len(), 2 * depth), "{depth}");
            let crossed = text.replacen("}]", "]}", 1);
            assert!(scan_value(crossed.as_bytes(), 0).is_none(), "{depth}");
        }
    }
}
