//! Problems of an input, with their places and their remedies.
//!
//! Inputs are untrusted, and problems are shown in terminals, so control characters in names and texts are escaped.

use std::collections::HashSet;
use std::fmt::{self, Write as _};
use std::ops::Deref;

use serde_json::Value;

/// A position in a file. Line and column are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.line, self.column)
    }
}

/// A problem with its place and, if known, its remedy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Problem {
    /// The path or address of the file, as the user named it.
    pub file: String,
    /// The place in the file. Absent for a problem of the whole file.
    pub place: Option<Place>,
    /// The JSON pointer in fragment form (`#/$defs/X`). Empty if the text couldn't be parsed.
    pub pointer: String,
    /// The problem in a sentence.
    pub what: String,
    /// The remedy.
    pub help: Option<String>,
}

impl Problem {
    /// Creates a problem of a whole file.
    pub(crate) fn new(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            place: None,
            pointer: String::new(),
            what: what.into(),
            help: None,
        }
    }

    /// Creates a problem without its file and place, which [`Document::locate`](crate::load::Document::locate) adds.
    pub(crate) fn at_pointer(pointer: impl Into<String>, what: impl Into<String>) -> Self {
        Self::new("", what).pointer(pointer)
    }

    /// Sets the place.
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// Sets the JSON pointer.
    pub(crate) fn pointer(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = pointer.into();
        self
    }

    /// Sets the remedy.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_printable(out, &self.file)?;
        if let Some(place) = self.place {
            write!(out, ":{place}")?;
        }
        out.write_str(": ")?;
        if !self.pointer.is_empty() {
            write_printable(out, &self.pointer)?;
            out.write_str(": ")?;
        }
        write_printable(out, &self.what)?;
        if let Some(help) = &self.help {
            out.write_str("\n  ")?;
            write_printable(out, help)?;
        }
        Ok(())
    }
}

/// Returns an entry of the overlay, for the user to copy.
pub(crate) fn overlay_line(section: &str, says: &str) -> String {
    format!(r#"this line under `{section}` in the revision's overlay.yaml: - {{{says}, why: "…", link: "https://…"}}"#)
}

/// Returns an entry that corrects the schema at a pointer, for the user to copy.
pub(crate) fn correction(at: &str, expect: Option<&Value>, to: impl fmt::Display) -> String {
    // JSON is a subset of YAML.
    let at = Value::from(at);
    let expect = expect.map_or_else(String::new, |expect| format!("expect: {expect}, "));
    overlay_line("corrections", &format!("at: {at}, {expect}to: {to}"))
}

/// Escapes control characters, so that a hostile name can't control the terminal.
fn write_printable(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for char in text.chars() {
        if char.is_control() {
            write!(out, "{}", char.escape_default())?;
        } else {
            out.write_char(char)?;
        }
    }
    Ok(())
}

impl std::error::Error for Problem {}

/// All problems of one run, in the order of the files' text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// `Ok` if there are no problems.
    ///
    /// # Errors
    ///
    /// All problems, sorted by file and place.
    pub(crate) fn check(mut found: Vec<Problem>) -> Result<(), Self> {
        if found.is_empty() {
            return Ok(());
        }
        found.sort_by(|a, b| (&a.file, a.place).cmp(&(&b.file, b.place)));
        // A rule can have the same problem in both directions.
        let mut known = HashSet::new();
        found.retain(|problem| known.insert(problem.clone()));
        Err(Self(found))
    }
}

impl Deref for Problems {
    type Target = [Problem];

    fn deref(&self) -> &[Problem] {
        &self.0
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                out.write_char('\n')?;
            }
            problem.fmt(out)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

impl FromIterator<Problem> for Problems {
    fn from_iter<I: IntoIterator<Item = Problem>>(problems: I) -> Self {
        Self::check(problems.into_iter().collect()).err().unwrap_or_default()
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
