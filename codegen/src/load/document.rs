//! A parsed document that knows the place of each value in its text.

use std::sync::Arc;

use mcp_json_schema::pointer;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::decode::decode;
use super::parse::{self, Format};
use super::places::{Origin, Places, START};
use crate::problem::{Place, Problem, Problems};

/// The maximum size of a document in bytes. Official schemas stay below 200 000.
pub const MAX_BYTES: usize = 8 << 20;

/// A JSON value with the name of its file and the line and column of each value in it. Clones share the contents until
/// one is changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    file: String,
    root: Arc<Value>,
    places: Arc<Places>,
}

impl Document {
    /// Reads a document. `file` is the name that problems are reported under.
    ///
    /// # Errors
    ///
    /// When the text is too long, isn't UTF-8, isn't valid, is nested too deep, or has a member twice.
    pub fn parse(file: impl Into<String>, bytes: &[u8], format: Format) -> Result<Self, Problems> {
        let file = file.into();
        if bytes.len() > MAX_BYTES {
            return Err(Problem::new(file, format!("more than {MAX_BYTES} bytes")).into());
        }
        let text = decode_text(&file, bytes)?;
        let (root, places) = parse::parse(&file, text, format)?;
        Ok(Self {
            file,
            root: Arc::new(root),
            places: Arc::new(places),
        })
    }

    /// Returns an empty document, for a file that doesn't exist.
    #[must_use]
    pub fn empty(file: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            ..Self::default()
        }
    }

    /// The name of the file in problems.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Returns the value of the whole document.
    #[must_use]
    pub fn root(&self) -> &Value {
        &self.root
    }

    /// Returns the value at a pointer in fragment form (`#/$defs/Tool`).
    pub(crate) fn get(&self, pointer: &str) -> Option<&Value> {
        pointer::resolve(&self.root, pointer)
    }

    /// Returns the place of the value at a pointer, or of the closest value around it that has a place.
    #[must_use]
    pub fn place(&self, pointer: &str) -> Place {
        let mut places = self.origins(pointer).filter_map(|origin| origin.place);
        places.next().unwrap_or(START)
    }

    /// Returns the origin of the value at a pointer, and those of the values around it.
    fn origins(&self, pointer: &str) -> impl Iterator<Item = &Origin> {
        let around = std::iter::successors(Some(pointer), |at| Some(at.rsplit_once('/')?.0));
        around.chain(["#"]).filter_map(|at| self.places.get(at))
    }

    /// Returns a problem at a pointer of this document.
    pub(crate) fn problem(&self, pointer: &str, what: impl Into<String>) -> Problem {
        self.locate(Problem::at_pointer(pointer, what))
    }

    /// Adds the file and the place to a problem at a pointer of this document, or of the entry that corrected it.
    pub(crate) fn locate(&self, problem: Problem) -> Problem {
        let origin = self.origins(&problem.pointer).next();
        match origin.and_then(|origin| origin.correction.as_deref()) {
            Some(entry) => Problem {
                what: format!("{}: {}", problem.pointer, problem.what),
                help: problem.help,
                ..entry.clone()
            },
            None => Problem {
                file: self.file.clone(),
                place: Some(self.place(&problem.pointer)),
                ..problem
            },
        }
    }

    /// Decodes the value at a pointer.
    ///
    /// # Errors
    ///
    /// Every wrong value in it that can be found.
    pub(crate) fn decode<T: DeserializeOwned>(&self, pointer: &str) -> Result<T, Problems> {
        decode(&self.root, pointer).map_err(|wrong| wrong.into_iter().map(|problem| self.locate(problem)).collect())
    }

    /// Decodes the whole document. An empty document decodes to the type's default.
    pub(crate) fn decode_all<T: DeserializeOwned + Default>(&self) -> Result<T, Problems> {
        if self.root.is_null() {
            return Ok(T::default());
        }
        self.decode("#")
    }

    /// Decodes the whole document. If that fails, it adds the problems to `problems`, and returns the type's default.
    pub(crate) fn decode_or_report<T: DeserializeOwned + Default>(&self, problems: &mut Vec<Problem>) -> T {
        self.decode_all().unwrap_or_else(|wrong| {
            problems.extend(wrong);
            T::default()
        })
    }

    /// Returns the document without what is in these members. If that is decoded one by one, the problems of all are
    /// found.
    pub(crate) fn without(&self, members: &[&str]) -> Self {
        let mut rest = self.root().clone();
        for member in members {
            match rest.get_mut(member) {
                Some(Value::Array(elements)) => elements.clear(),
                Some(Value::Object(members)) => members.clear(),
                _ => {}
            }
        }
        self.with_root(rest)
    }

    /// Decodes each element of the list `section` separately, so that the problems of all are found. Each element must
    /// have a reason and a link.
    pub(crate) fn entries<T: DeserializeOwned>(&self, section: &str, problems: &mut Vec<Problem>) -> Vec<T> {
        let entries = self.entries_at(section, problems).into_iter();
        entries.map(|(_, entry)| entry).collect()
    }

    /// Decodes the elements as [`Document::entries`] does, and returns each with its pointer.
    pub(crate) fn entries_at<T: DeserializeOwned>(
        &self,
        section: &str,
        problems: &mut Vec<Problem>,
    ) -> Vec<(String, T)> {
        let section = pointer::child("#", section);
        let count = self.get(&section).and_then(Value::as_array).map_or(0, Vec::len);
        let entries = (0..count).filter_map(|index| {
            let at = format!("{section}/{index}");
            let decoded = self.decode(&at).map_err(|wrong| problems.extend(wrong)).ok()?;
            problems.extend(self.unexplained(&at));
            Some((at, decoded))
        });
        entries.collect()
    }

    /// Returns a problem if the entry at a pointer has no reason or no link to the specification.
    pub(crate) fn unexplained(&self, pointer: &str) -> Option<Problem> {
        let text = |name| self.get(&pointer::child(pointer, name)).and_then(Value::as_str);
        let (what, help) = if text("why").is_none_or(|why| why.trim().is_empty()) {
            ("`why` is missing or empty", "explain in `why` what this entry is for")
        } else if !text("link").is_some_and(|link| link.starts_with("https://")) {
            ("`link` isn't an https address", "name the page that this entry follows")
        } else {
            return None;
        };
        Some(self.problem(pointer, what).help(help))
    }

    /// Renames a member of the root in the table of places, so that problems of the new name are reported at the old
    /// one's place.
    pub(crate) fn with_renamed(mut self, from: &str, to: &str) -> Self {
        let [from, to] = [from, to].map(|name| pointer::child("#", name));
        Arc::make_mut(&mut self.places).rename(&from, &to);
        self
    }

    /// Returns a document with the same places, and another value of nearly the same shape.
    pub(crate) fn with_root(&self, root: Value) -> Self {
        Self {
            root: Arc::new(root),
            ..self.clone()
        }
    }

    /// Records the entry of an overlay that corrected the value at a pointer.
    pub(crate) fn set_correction(&mut self, pointer: &str, entry: Problem) {
        Arc::make_mut(&mut self.places).at(pointer.to_owned()).correction = Some(Arc::new(entry));
    }

    /// Sets or removes the value at a pointer. Returns whether the value around it exists and can contain it. A new
    /// value has the place of the old one, and the values inside it have none.
    pub(crate) fn set(&mut self, pointer: &str, value: Option<Value>) -> bool {
        let last = pointer::tokens(pointer).and_then(|mut path| path.pop());
        let (Some(last), Some((around, _))) = (last, pointer.rsplit_once('/')) else {
            return false;
        };
        let places = Arc::make_mut(&mut self.places);
        match (Arc::make_mut(&mut self.root).pointer_mut(&around[1..]), value) {
            (Some(Value::Object(members)), value) => {
                match value {
                    Some(value) => members.insert(last, value),
                    None => members.remove(&last),
                };
                places.forget_inside(pointer);
            }
            (Some(Value::Array(elements)), value) => {
                let Some(index) = index(&last).filter(|index| *index <= elements.len()) else {
                    return false;
                };
                match (value, index < elements.len()) {
                    (Some(value), true) => {
                        elements[index] = value;
                        places.forget_inside(pointer);
                    }
                    (Some(value), false) => elements.push(value),
                    (None, true) => {
                        elements.remove(index);
                        places.remove_element(around, index, elements.len());
                    }
                    (None, false) => {}
                }
            }
            _ => return false,
        }
        true
    }
}

/// Parses an index in a JSON pointer, which has no sign and no leading zero.
fn index(token: &str) -> Option<usize> {
    let index = token.parse().ok()?;
    (token == format!("{index}")).then_some(index)
}

fn decode_text<'bytes>(file: &str, bytes: &'bytes [u8]) -> Result<&'bytes str, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        let last = good.rsplit('\n').next().unwrap_or_default();
        let place = Place {
            line: good.matches('\n').count() + 1,
            column: last.chars().count() + 1,
        };
        Problem::new(file, "invalid UTF-8")
            .at(place)
            .help("save the file as UTF-8")
    })?;
    // Some editors write a byte order mark before the text.
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}
