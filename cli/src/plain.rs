//! Text of servers, without the characters that change what a terminal does or shows.

use std::io::{self, Write};

/// Replaces control characters except line breaks and tabs, invisible characters, and those that change the direction
/// of text.
pub fn plain(text: &str) -> String {
    let shown = |character: char| match character {
        '\n' | '\t' => character,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        _ if character.is_control() => char::REPLACEMENT_CHARACTER,
        _ => character,
    };
    text.chars().map(shown).collect()
}

/// A writer that makes all text [`plain`].
pub struct Plain<W> {
    inner: W,
    /// The first bytes of a character whose rest hasn't been written yet.
    started: Vec<u8>,
}

impl<W: Write> Plain<W> {
    pub fn new(inner: W) -> Self {
        let started = Vec::new();
        Self { inner, started }
    }

    /// Writes an escape sequence of this program unchanged.
    pub fn escape(&mut self, sequence: &str) -> io::Result<()> {
        let started = std::mem::take(&mut self.started);
        self.inner.write_all(String::from_utf8_lossy(&started).as_bytes())?;
        self.inner.write_all(sequence.as_bytes())
    }
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let all = [&self.started, bytes].concat();
        let (end, is_started) = match std::str::from_utf8(&all) {
            Err(error) if all[error.valid_up_to()..].len() < 4 && error.error_len().is_none() => {
                (error.valid_up_to(), true)
            }
            _ => (all.len(), false),
        };
        self.inner
            .write_all(plain(&String::from_utf8_lossy(&all[..end])).as_bytes())?;
        self.started = if is_started { all[end..].to_vec() } else { Vec::new() };
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_and_bidirectional_control_characters_are_replaced() {
        let kept = "a\u{200a}\u{2010}\u{2029}\u{202f}\u{2065}\u{206a}é😀";
        assert_eq!(plain(kept), kept);
        let turned = ('\u{200b}'..='\u{200f}').chain('\u{202a}'..='\u{202e}');
        let replaced = turned
            .chain('\u{2066}'..='\u{2069}')
            .chain('\u{80}'..='\u{9f}')
            .chain(['\u{7f}']);
        for character in replaced {
            assert_eq!(plain(&character.to_string()), "\u{fffd}", "{character:?}");
        }
    }

    #[test]
    fn text_written_in_parts_is_sanitized_like_text_written_at_once() {
        let text = "é\u{9b}31m😀\u{202e}";
        for size in 1..8 {
            let mut output = Vec::new();
            let mut plain = Plain::new(&mut output);
            text.as_bytes()
                .chunks(size)
                .for_each(|part| plain.write_all(part).expect("a vector"));
            assert_eq!(
                String::from_utf8(output).expect("text"),
                "é\u{fffd}31m😀\u{fffd}",
                "{size}"
            );
        }
        let mut output = Vec::new();
        Plain::new(&mut output).write_all(b"a\xff\x1b\xf0b").expect("a vector");
        assert_eq!(String::from_utf8(output).expect("text"), "a\u{fffd}\u{fffd}\u{fffd}b");
    }
}
