//! Text for people: lines, headings, tables, and JSON over several lines.

use std::io::{self, Write};

use clap::builder::styling::Style;
use mcp_adapters::Loss;
use serde::Serialize;

use crate::paint::{BAD, DOUBTFUL, HEADING, NAME, NONE, Paint, write_error};
use crate::plain::plain;

/// The number of characters at which a cell of a table is cut.
const CELL: usize = 72;

/// A text as one line, cut at [`CELL`] characters.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = plain(&words.join(" "));
    match line.char_indices().nth(CELL) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// Writes a line to standard error. A failure is ignored, since there is nowhere to report it.
pub fn say(line: &str) {
    let _ = write_error(|output| write_line(output, line));
}

/// Writes a line, with its first word in a style if that is a known kind.
fn write_line(output: &mut impl Paint, line: &str) -> io::Result<()> {
    let kinds = [("error:", BAD), ("warning:", DOUBTFUL), ("[lost]", DOUBTFUL)];
    let kind = kinds.iter().find(|(kind, _)| line.starts_with(kind));
    let (kind, style) = kind.copied().unwrap_or(("", NONE));
    output.paint(style, kind)?;
    writeln!(output, "{}", &line[kind.len()..])
}

/// Reports on standard error a loss of a message of a method, or of an instance of a definition.
pub fn say_loss(name: &str, loss: &Loss) {
    let Loss { path, kind, rule } = loss;
    say(&format!(
        "[lost] {}: {} {kind} ({rule})",
        one_line(name),
        one_line(&path.to_string())
    ));
}

/// Writes a value as JSON over several lines.
pub fn write_json(output: &mut (impl Write + ?Sized), value: &impl Serialize) -> io::Result<()> {
    writeln!(output, "{}", serde_json::to_string_pretty(value)?)
}

/// Writes a heading, after an empty line.
pub fn write_heading(mut output: impl Paint, heading: &str) -> io::Result<()> {
    writeln!(output)?;
    output.paint(HEADING, heading)?;
    writeln!(output)
}

/// The number of characters to which a column can shrink on a narrow terminal.
const NARROWEST: usize = 12;

/// Writes rows with their columns aligned, indented by two spaces, and each cell in the style for its row and column.
pub fn write_table<const N: usize>(
    output: impl Paint,
    rows: &[[String; N]],
    style: impl Fn(usize, usize) -> Style,
) -> io::Result<()> {
    write_rows(output, rows, widths(rows), style)
}

/// Writes the items of a list as a table, each starting with its name. On a terminal, the widest of the other columns
/// are cut until each row fits a line.
pub fn write_list<const N: usize>(output: impl Paint, rows: &[[String; N]]) -> io::Result<()> {
    let widths = match output.columns() {
        Some(columns) => fit(widths(rows), columns),
        None => widths(rows),
    };
    write_rows(output, rows, widths, |_, column| if column == 0 { NAME } else { NONE })
}

fn widths<const N: usize>(rows: &[[String; N]]) -> [usize; N] {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    std::array::from_fn(width)
}

fn write_rows<const N: usize>(
    mut output: impl Paint,
    rows: &[[String; N]],
    widths: [usize; N],
    style: impl Fn(usize, usize) -> Style,
) -> io::Result<()> {
    for (number, row) in rows.iter().enumerate() {
        let last = row.iter().rposition(|cell| !cell.is_empty()).unwrap_or(0);
        output.write_all(b" ")?;
        for (column, (cell, width)) in row.iter().zip(widths).enumerate().take(last + 1) {
            let cell = cut(cell, width);
            output.write_all(b" ")?;
            output.paint(style(number, column), &cell)?;
            if column < last {
                write!(output, "{}", " ".repeat(width + 1 - cell.chars().count()))?;
            }
        }
        writeln!(output)?;
    }
    Ok(())
}

/// Shrinks columns so that a row fits a line, but never the first.
fn fit<const N: usize>(mut widths: [usize; N], columns: usize) -> [usize; N] {
    loop {
        let all = widths.iter().sum::<usize>() + 2 * widths.len();
        match widths.iter_mut().skip(1).max() {
            Some(widest) if all > columns && *widest > NARROWEST => *widest -= 1,
            _ => return widths,
        }
    }
}

/// Cuts a text that is longer than this width.
fn cut(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        Some(_) => {
            let kept: String = text.chars().take(width.saturating_sub(1)).collect();
            format!("{}…", kept.trim_end())
        }
        None => text.to_owned(),
    }
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
        write_table(&mut output, &rows, |_, _| NONE).expect("a vector can be written");
        assert_eq!(
            String::from_utf8(output).expect("text"),
            "  a     b\n  long\n  é     c\n"
        );
    }

    /// A terminal with this number of columns.
    struct Narrow(Vec<u8>, usize);

    impl Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Paint for Narrow {
        fn columns(&self) -> Option<usize> {
            Some(self.1)
        }
    }

    #[test]
    fn wide_columns_are_cut_to_fit_the_terminal_and_names_are_kept() {
        let words = "word ".repeat(10).trim_end().to_owned();
        let rows = [["a_long_name_of_a_tool".to_owned(), words.clone(), words]];
        let mut shown = Vec::new();
        for columns in [30, 60, 80, 200] {
            let mut output = Narrow(Vec::new(), columns);
            write_list(&mut output, &rows).expect("a vector can be written");
            let text = String::from_utf8(output.0).expect("text");
            assert!(text.starts_with("  a_long_name_of_a_tool  word word"), "{text}");
            shown.push((text.trim_end().chars().count(), text.matches('…').count()));
        }
        // The narrowest terminal is too narrow to fit everything, and the widest is wide enough.
        assert_eq!(shown[3], (125, 0));
        assert!(shown[1].0 <= 60 && shown[2].0 <= 80 && shown[0].0 < 60, "{shown:?}");
        assert!(shown[..3].iter().all(|(_, cut)| *cut == 2), "{shown:?}");
    }
}
