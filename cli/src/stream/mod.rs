//! A stream of JSON values, one after the other, on any number of lines.

mod place;
mod scanner;

use std::io::{self, BufRead};

pub use self::place::Place;
use self::scanner::{Scanner, Step, begins_value, is_space};

/// The maximum number of bytes of a value.
pub const VALUE_BYTES: usize = 64 << 20;

/// The reason why there is no value at a place.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    #[error("{expected} at line {}, column {}", .at.line, .at.column)]
    Syntax { expected: &'static str, at: Place },
    #[error("the input ends within this value")]
    Unfinished,
    #[error("the value is longer than {0} bytes")]
    TooLong(usize),
}

/// Reads one value after the other, and keeps only one in memory.
pub struct Stream<R> {
    input: R,
    limit: usize,
    place: Place,
}

impl<R: BufRead> Stream<R> {
    pub fn new(input: R) -> Self {
        Self::with_limit(input, VALUE_BYTES)
    }

    fn with_limit(input: R, limit: usize) -> Self {
        let place = Place::START;
        Self { input, limit, place }
    }

    /// Reads the next value into `text`, and returns the place where it starts; `None` at the end of the input.
    ///
    /// Only the structure is checked: the decoder checks strings, numbers and names. After a syntax error, the stream
    /// continues at the next line that starts with a value, so that a broken line of JSON Lines doesn't affect the
    /// others.
    pub fn read(&mut self, text: &mut Vec<u8>) -> io::Result<Option<(Place, Result<(), Malformed>)>> {
        text.clear();
        if self.place == Place::START {
            self.skip_byte_order_mark()?;
        }
        while let Some(byte) = self.peek()?.filter(|byte| is_space(*byte)) {
            self.advance(byte);
        }
        let start = self.place;
        let mut scanner = Scanner::default();
        loop {
            let Some(byte) = self.peek()? else {
                return Ok(match scanner.at_end() {
                    _ if self.place == start => None,
                    true => Some((start, self.measured(start))),
                    false => Some((start, Err(Malformed::Unfinished))),
                });
            };
            let step = scanner.step(byte);
            if let Step::Wrong(expected) = step {
                let at = self.place;
                self.resume()?;
                return Ok(Some((start, Err(Malformed::Syntax { expected, at }))));
            }
            if !matches!(step, Step::Past) {
                self.advance(byte);
                // A value over the limit is read to its end, but not kept.
                if text.len() < self.limit {
                    text.push(byte);
                }
            }
            if matches!(step, Step::Past | Step::Last) {
                return Ok(Some((start, self.measured(start))));
            }
        }
    }

    /// Checks the length of the value that ends here.
    fn measured(&self, start: Place) -> Result<(), Malformed> {
        match self.place.byte - start.byte <= self.limit as u64 {
            true => Ok(()),
            false => Err(Malformed::TooLong(self.limit)),
        }
    }

    /// Skips to the next line that starts with a value.
    fn resume(&mut self) -> io::Result<()> {
        while let Some(byte) = self.peek()? {
            if self.place.column == 1 && begins_value(byte) {
                break;
            }
            self.advance(byte);
        }
        Ok(())
    }

    /// Skips the mark with which some programs start a file. Its first byte can't start a value.
    fn skip_byte_order_mark(&mut self) -> io::Result<()> {
        for byte in "\u{feff}".bytes() {
            if self.peek()? != Some(byte) {
                break;
            }
            self.advance(byte);
            self.place.column = 1;
        }
        Ok(())
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.input.fill_buf() {
                Ok(buffer) => return Ok(buffer.first().copied()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn advance(&mut self, byte: u8) {
        self.input.consume(1);
        self.place.advance(byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each value with its line, column and byte, or the error in its place.
    fn read_all(input: &str, limit: usize) -> Vec<String> {
        let mut stream = Stream::with_limit(input.as_bytes(), limit);
        let (mut text, mut found) = (Vec::new(), Vec::new());
        while let Some((place, read)) = stream.read(&mut text).expect("a slice can be read") {
            let Place { line, column, byte } = place;
            let what = match read {
                Ok(()) => String::from_utf8(text.clone()).expect("it is cut between values"),
                Err(error) => error.to_string(),
            };
            found.push(format!("{line}:{column} {byte} {what}"));
        }
        found
    }

    #[test]
    fn values_do_not_have_to_be_on_separate_lines() {
        let input = "{\"a\":\n [1,\n 2]}[]\"é\" 1 -2e3\ttrue{}\n\nnull";
        let expected = [
            "1:1 0 {\"a\":\n [1,\n 2]}",
            "3:5 15 []",
            "3:7 17 \"é\"",
            "3:11 22 1",
            "3:13 24 -2e3",
            "3:18 29 true",
            "3:22 33 {}",
            "5:1 37 null",
        ];
        assert_eq!(read_all(input, 100), expected);
        assert!(read_all(" \n\u{1e}", 100).is_empty());
    }

    #[test]
    fn a_byte_order_mark_at_the_start_is_skipped() {
        assert_eq!(read_all("\u{feff}{}\n{}", 100), ["1:1 3 {}", "2:1 6 {}"]);
        assert!(read_all("\u{feff}", 100).is_empty());
        let found = read_all("{}\n\u{feff}{}", 100);
        assert_eq!(found[1], "2:1 3 expected a value at line 2, column 1");
    }

    #[test]
    fn brackets_and_quotes_in_strings_are_ignored() {
        let input = r#"{"}\"]\\":"{["} ["\\"]"#;
        assert_eq!(read_all(input, 100), [r#"1:1 0 {"}\"]\\":"{["}"#, r#"1:17 16 ["\\"]"#]);
    }

    #[test]
    fn a_broken_line_does_not_affect_the_others() {
        for broken in [
            "nonsense",
            "{\"a\":1",
            "[1 2]",
            "{\"a\" 1}",
            "{,}",
            "\"a",
            "]",
            "[1}",
            "{\"a\":}",
            "[,1]",
        ] {
            let found = read_all(&format!("{{}}\n{broken}\n{{\"b\":2}}"), 100);
            assert_eq!(found.len(), 3, "{found:?}");
            assert_eq!(found[0], "1:1 0 {}");
            assert!(found[1].starts_with("2:1 3 expected "), "{found:?}");
            assert!(
                found[2].ends_with("{\"b\":2}") && found[2].starts_with("3:1"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_broken_value_over_several_lines_is_one_error() {
        let found = read_all("{\n  \"a\": 1\n  \"b\": [\n    2\n  ]\n}\n{}", 100);
        assert_eq!(found, ["1:1 0 expected `,` or `}` at line 3, column 3", "7:1 32 {}"]);
    }

    #[test]
    fn an_incomplete_value_is_reported_at_its_start() {
        assert_eq!(
            read_all("1 {\"a\":[", 100),
            ["1:1 0 1", "1:3 2 the input ends within this value"]
        );
    }

    #[test]
    fn a_value_over_the_limit_is_skipped() {
        let found = read_all("[1,2,3,4] [1] \"12345678\" 1", 8);
        let too_long = "the value is longer than 8 bytes";
        assert_eq!(
            found,
            [
                format!("1:1 0 {too_long}"),
                "1:11 10 [1]".to_owned(),
                format!("1:15 14 {too_long}"),
                "1:26 25 1".to_owned(),
            ]
        );
    }

    #[test]
    fn too_deep_nesting_is_an_error() {
        let found = read_all(&format!("{}\n1", "[".repeat(1_000_000)), 100);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("levels"), "{found:?}");
    }
}
