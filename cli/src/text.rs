//! Text for people. What a server sends is shown without the characters that change what a terminal does or shows.

use std::io::{self, IsTerminal, Write};

use mcp_adapters::Loss;

/// The characters of a cell of a table.
const CELL: usize = 72;

/// A text of several lines without other control characters, and without those that are invisible or change the direction of text.
pub fn plain(text: &str) -> String {
    let shown = |character: char| match character {
        '\n' | '\t' => character,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        _ if character.is_control() => char::REPLACEMENT_CHARACTER,
        _ => character,
    };
    text.chars().map(shown).collect()
}

/// Makes all that is written through it [`plain`].
pub struct Plain<W> {
    inner: W,
    /// The start of a character whose rest hasn't been written.
    started: Vec<u8>,
}

impl<W: Write> Plain<W> {
    pub fn new(inner: W) -> Self {
        let started = Vec::new();
        Self { inner, started }
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

/// Standard output: plain on a terminal, and as it is elsewhere.
pub fn output() -> Box<dyn Write> {
    let output = io::stdout();
    match output.is_terminal() {
        true => Box::new(Plain::new(output)),
        false => Box::new(output),
    }
}

/// Standard error, which people read.
pub fn errors() -> Plain<io::Stderr> {
    Plain::new(io::stderr())
}

/// The beginning of a text as one line.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = plain(&words.join(" "));
    match line.char_indices().nth(CELL) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// Writes a line to standard error. If that fails, there is nowhere to report it.
pub fn say(line: &str) {
    let _ = errors().write_all(format!("{line}\n").as_bytes());
}

/// Writes to standard error what a message of a method, or an instance of a definition, has lost.
pub fn say_loss(name: &str, loss: &Loss) {
    let (path, kind, rule) = (loss.path.to_string(), loss.kind, loss.rule);
    let path = if path.is_empty() { "the message" } else { &path };
    say(&format!(
        "[lost] {}: {} {kind} ({rule})",
        one_line(name),
        one_line(path)
    ));
}

/// Writes rows with their columns aligned, indented by two spaces.
pub fn write_table<const N: usize>(mut output: impl Write, rows: &[[String; N]]) -> io::Result<()> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    for row in rows {
        let mut line = String::from(" ");
        for (cell, width) in row.iter().zip(widths) {
            line.push(' ');
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width + 1 - cell.chars().count()));
        }
        writeln!(output, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_cannot_write_escape_sequences_to_the_terminal() {
        assert_eq!(
            plain("a\u{1b}[31m\tb\r\nc\u{9b}"),
            "a\u{fffd}[31m\tb\u{fffd}\nc\u{fffd}"
        );
        assert_eq!(one_line(" a\n\u{7}b "), "a \u{fffd}b");
    }

    #[test]
    fn characters_that_are_invisible_or_turn_text_round_are_replaced() {
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
    fn what_is_written_in_parts_is_made_plain_as_if_it_were_whole() {
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

    #[test]
    fn a_long_cell_is_cut_between_characters() {
        let cut = one_line(&"é".repeat(1000));
        assert_eq!(cut.chars().count(), CELL + 1);
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [["a", "b"], ["long", ""], ["é", "c"]].map(|row| row.map(str::to_owned));
        let mut output = Vec::new();
        write_table(&mut output, &rows).expect("a vector can be written");
        assert_eq!(
            String::from_utf8(output).expect("text"),
            "  a     b\n  long\n  é     c\n"
        );
    }
}
