//! Text for people. What a server says is shown without control characters, which terminals obey.

use std::io::{self, Write};

/// The characters of a cell of a table.
const CELL: usize = 72;

/// A text of several lines without other control characters.
pub fn plain(text: &str) -> String {
    let shown = |character: char| match character {
        '\n' | '\t' => character,
        _ if character.is_control() => '\u{fffd}',
        _ => character,
    };
    text.chars().map(shown).collect()
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
    let _ = writeln!(io::stderr(), "{line}");
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
