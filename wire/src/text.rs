//! Scanning the bytes of a JSON text, eight or more at a time.

/// Returns the number of bytes before the first quote, backslash or control character, which must be escaped in a JSON
/// string. Returns the length of `bytes` if there is none.
#[inline]
pub(crate) fn plain_prefix(bytes: &[u8]) -> usize {
    // Most strings, such as the names of members, end within two words.
    let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else {
        return plain_prefix_of_short(bytes);
    };
    let marks = special_bytes(u64::from_le_bytes(*first));
    if marks != 0 {
        return first_marked(marks);
    }
    // There are at least eight bytes, and at least sixteen after the first arm.
    let second = bytes[8..].first_chunk().unwrap_or(last);
    match (special_bytes(u64::from_le_bytes(*second)), bytes.len()) {
        // The last word overlaps the first one, which is plain.
        (marks, length @ ..16) => length - 8 + first_marked(marks),
        (0, _) => 16 + plain_prefix_of_long(&bytes[16..]),
        (marks, _) => 8 + first_marked(marks),
    }
}

fn plain_prefix_of_short(bytes: &[u8]) -> usize {
    // The halves of the word are the first and the last four bytes, which may overlap.
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let word = u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32;
        let index = first_marked(special_bytes(word));
        return if index < 4 { index } else { bytes.len() + index - 8 };
    }
    let special = bytes.iter().position(|byte| is_special(*byte));
    special.unwrap_or(bytes.len())
}

fn plain_prefix_of_long(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    // Most others end within a few words.
    for _ in 0..BLOCK / 8 {
        let Some((word, after)) = rest.split_first_chunk() else {
            break;
        };
        let marks = special_bytes(u64::from_le_bytes(*word));
        if marks != 0 {
            return bytes.len() - rest.len() + first_marked(marks);
        }
        rest = after;
    }
    let (blocks, _) = rest.as_chunks::<BLOCK>();
    let plain = BLOCK * blocks.iter().take_while(|block| is_plain(block)).count();
    let end = bytes.len() - rest.len() + plain;
    end + plain_prefix_of_block(&rest[plain..rest.len().min(plain + BLOCK)])
}

/// The number of bytes of a long string that are checked together.
const BLOCK: usize = 64;

/// Whether no byte of the block must be escaped. Without a branch, the compiler can check many bytes with one
/// instruction.
fn is_plain(block: &[u8; BLOCK]) -> bool {
    !block.iter().fold(false, |any, byte| any | is_special(*byte))
}

fn plain_prefix_of_block(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let marks = special_bytes(u64::from_le_bytes(*word));
        if marks != 0 {
            return index * 8 + first_marked(marks);
        }
    }
    words.len() * 8 + plain_prefix_of_short(rest)
}

/// Whether a byte must be escaped in a JSON string. There is no branch in it.
pub(crate) const fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// Returns the index of the first marked byte of a word, or 8 if none is marked.
fn first_marked(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

/// Marks the bytes that end a plain run, each by its highest bit.
///
/// Only the lowest mark is reliable: the subtraction borrows from the bytes above a marked one.
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xff;
    // Swapping 0x22 (the quote) and 0x20 (the space) puts the quote next to the control characters.
    let quote_or_control = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
    (quote_or_control | backslash) & !word & (ONES << 7)
}

/// Returns the character of the escape at the start of `text`, and the length of the escape. `None` if it is invalid.
pub(crate) fn escape(text: &str) -> Option<(char, usize)> {
    let character = match *text.as_bytes().get(1)? {
        byte @ (b'"' | b'\\' | b'/') => char::from(byte),
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return unicode_escape(text),
        _ => return None,
    };
    Some((character, 2))
}

/// Does the same for an escape such as `\u0041`, or two of them that are a surrogate pair.
fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let first = hex_escape(text)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, 6));
    }
    let pair = [first, hex_escape(text.get(6..)?)?];
    let character = char::decode_utf16(pair).next()?.ok()?;
    Some((character, 12))
}

/// Returns the UTF-16 code unit of the escape at the start of `text`.
fn hex_escape(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| hexadecimal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_plain_prefix_ends_before_the_first_byte_that_must_be_escaped(bytes in prop::collection::vec(
            prop_oneof![8 => any::<u8>(), 1 => prop::sample::select(b"\"\\\x1f\x20\x21\x7f\x80".as_slice())], 0..40
        ), plain in 0_usize..300) {
            let bytes = [vec![b'a'; plain], bytes].concat();
            let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
            let expected = bytes.iter().position(special).unwrap_or(bytes.len());
            prop_assert_eq!(plain_prefix(&bytes), expected);
        }

        #[test]
        fn strings_are_unescaped_as_serde_json_does(
            pieces in prop::collection::vec(prop_oneof![
                "[a-zé😀 ]{0,12}".boxed(),
                prop::sample::select(vec![
                    r"\n", r"\t", r"\r", r"\b", r"\f", r"\/", r"\\", r#"\""#, r"\u0041", r"\u00e9", r"\u0000",
                    r"\ud83d\ude00", r"\ud83d", r"\ude00", r"\ud83d\u0041", r"\ud83dx", r"\u12", r"\u+123", r"\x", "\u{1}",
                    r"\ud83d\n", r"\ud83d\ud83d", "\\",
                ]).prop_map(str::to_owned).boxed(),
            ], 0..8)
        ) {
            let json = format!("\"{}\"", pieces.concat());
            let expected = serde_json::from_str::<String>(&json).ok();
            let mut reader = crate::Reader::new(&json);
            let is_skipped = reader.skip_string().is_ok() && reader.position() == json.len();
            prop_assert_eq!(is_skipped, expected.is_some());
            prop_assert_eq!(crate::from_str::<String>(&json).ok(), expected);
        }
    }
}
