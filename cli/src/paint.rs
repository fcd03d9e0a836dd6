//! Colour and emphasis on a terminal.
//!
//! Text of a server reaches a terminal only through [`Plain`], which removes escape sequences from it. The escape
//! sequences of styles are written past [`Plain`], so that a server can't forge them.

use std::io::{self, BufWriter, IsTerminal, Stderr, Stdout, Write};
use std::sync::OnceLock;

use anstream::AutoStream;
use anstream::stream::RawStream;
use clap::ColorChoice;
use clap::builder::styling::{AnsiColor, Style};

use crate::plain::Plain;
use crate::status;

/// A heading.
pub const HEADING: Style = Style::new().bold();
/// The name of an item in a list.
pub const NAME: Style = AnsiColor::Cyan.on_default();
/// A failure, or a change that breaks clients.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// A warning, or a change that may matter.
pub const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
/// A success.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// All other text.
pub const NONE: Style = Style::new();

/// The value of `--color`.
static CHOICE: OnceLock<ColorChoice> = OnceLock::new();

/// Sets when styles are used, for everything that is written from now on.
pub fn choose(choice: ColorChoice) {
    // It is set once, since there is one command line.
    let _ = CHOICE.set(choice);
}

fn has_styles(stream: &impl RawStream) -> bool {
    match CHOICE.get() {
        Some(ColorChoice::Always) => true,
        Some(ColorChoice::Never) => false,
        Some(ColorChoice::Auto) | None => AutoStream::choice(stream) != anstream::ColorChoice::Never,
    }
}

/// A writer of styled text. By default, there are no styles.
pub trait Paint: Write {
    /// Writes a text in a style, if there are styles.
    fn paint(&mut self, style: Style, text: &str) -> io::Result<()> {
        let _ = style;
        self.write_all(text.as_bytes())
    }

    /// The number of columns, if this is a terminal.
    fn columns(&self) -> Option<usize> {
        None
    }
}

impl Paint for Vec<u8> {}

impl<P: Paint + ?Sized> Paint for &mut P {
    fn paint(&mut self, style: Style, text: &str) -> io::Result<()> {
        (**self).paint(style, text)
    }

    fn columns(&self) -> Option<usize> {
        (**self).columns()
    }
}

/// Standard output or standard error.
pub struct Output<W> {
    inner: Inner<W>,
    has_styles: bool,
    columns: Option<usize>,
}

enum Inner<W> {
    Plain(Plain<W>),
    AsItIs(W),
}

/// Standard output: sanitized by [`Plain`] on a terminal, and unchanged elsewhere.
pub fn output() -> Output<BufWriter<Stdout>> {
    let stream = io::stdout();
    let (has_styles, is_terminal) = (has_styles(&stream), stream.is_terminal());
    let columns = is_terminal.then(|| columns(&stream)).flatten();
    let buffered = BufWriter::new(stream);
    let inner = match is_terminal {
        true => Inner::Plain(Plain::new(buffered)),
        false => Inner::AsItIs(buffered),
    };
    Output {
        inner,
        has_styles,
        columns,
    }
}

/// Standard error, which people read: always sanitized.
pub fn errors() -> Output<Stderr> {
    let stream = io::stderr();
    Output {
        has_styles: has_styles(&stream),
        inner: Inner::Plain(Plain::new(stream)),
        columns: None,
    }
}

/// Writes to standard error without buffering, because others write there too.
pub fn write_error(write: impl FnOnce(&mut Output<&mut Vec<u8>>) -> io::Result<()>) -> io::Result<()> {
    let mut written = Vec::new();
    write(&mut Output {
        inner: Inner::Plain(Plain::new(&mut written)),
        has_styles: has_styles(&io::stderr()),
        columns: None,
    })?;
    status::write_above(&written)
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.inner {
            Inner::Plain(inner) => {
                status::erase();
                inner.write(bytes)
            }
            Inner::AsItIs(inner) => inner.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.inner {
            Inner::Plain(inner) => inner.flush(),
            Inner::AsItIs(inner) => inner.flush(),
        }
    }
}

impl<W: Write> Output<W> {
    fn escape(&mut self, sequence: &str) -> io::Result<()> {
        match &mut self.inner {
            Inner::Plain(inner) => inner.escape(sequence),
            Inner::AsItIs(inner) => inner.write_all(sequence.as_bytes()),
        }
    }
}

impl<W: Write> Paint for Output<W> {
    fn paint(&mut self, style: Style, text: &str) -> io::Result<()> {
        if !self.has_styles || text.is_empty() || style == NONE {
            return self.write_all(text.as_bytes());
        }
        self.escape(&style.render().to_string())?;
        self.write_all(text.as_bytes())?;
        self.escape(&style.render_reset().to_string())
    }

    fn columns(&self) -> Option<usize> {
        self.columns
    }
}

/// The number of columns of a terminal.
#[cfg(unix)]
pub fn columns(stream: &impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(not(unix))]
pub fn columns<S>(_: &S) -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(has_styles: bool, is_terminal: bool, text: &str) -> String {
        let mut written = Vec::new();
        let mut output = Output {
            inner: match is_terminal {
                true => Inner::Plain(Plain::new(&mut written)),
                false => Inner::AsItIs(&mut written),
            },
            has_styles,
            columns: None,
        };
        output.paint(BAD, text).expect("a vector can be written");
        output.write_all(b" \xe2").expect("a vector can be written");
        output.paint(NONE, "").expect("a vector can be written");
        output.paint(GOOD, "ok").expect("a vector can be written");
        String::from_utf8(written).expect("text")
    }

    #[test]
    fn styles_are_written_and_escape_sequences_of_servers_are_replaced() {
        let hostile = "a\u{1b}[5mb";
        assert_eq!(
            painted(true, true, hostile),
            "\u{1b}[1m\u{1b}[31ma\u{fffd}[5mb\u{1b}[0m \u{fffd}\u{1b}[32mok\u{1b}[0m"
        );
        assert_eq!(painted(false, true, hostile), "a\u{fffd}[5mb \u{fffd}ok");
    }
}
