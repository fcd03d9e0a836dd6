//! Reads JSON and YAML with the place of each value.
//!
//! JSON is a subset of YAML, so the YAML parser finds the places in both. The values of JSON are read by serde_json,
//! because YAML accepts much that JSON forbids.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use mcp_json_schema::pointer;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Tag};
use serde::Deserialize;
use serde_json::{Map, Number, Value};
use serde_path_to_error::Track;

use super::decode::tokens;
use super::places::Places;
use crate::problem::{Place, Problem, Problems};

/// The maximum depth of objects and lists, which is also that of serde_json. Official schemas stay below 20. The limit
/// keeps recursive functions from overflowing the stack.
pub const MAX_DEPTH: usize = 127;

/// The maximum number of values to which the aliases of one document expand.
const MAX_ALIASED: usize = 1 << 20;

/// The maximum size in bytes of the pointers to all values of one document, since each repeats the names around it.
/// Those of an official schema take less than twice its size.
const MAX_POINTERS: usize = 128 << 20;

const NO_JSON: &str = "the file is damaged or isn't JSON: get it again; a YAML file needs a name that ends in .yaml";
const NO_YAML: &str = "this is not valid YAML, or uses features of YAML that JSON lacks: correct it or get it again";

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

impl Format {
    /// Determines the format by the extension of the name, or else by the first character of the text.
    #[must_use]
    pub fn of(name: &str, bytes: &[u8]) -> Self {
        let name = name.split(['?', '#']).next().unwrap_or_default();
        match Path::new(name).extension().and_then(|extension| extension.to_str()) {
            Some("json") => Self::Json,
            Some("yaml" | "yml") => Self::Yaml,
            _ => match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                Some(b'{' | b'[') => Self::Json,
                _ => Self::Yaml,
            },
        }
    }
}

/// Parses a text as one value.
pub(super) fn parse(file: &str, text: &str, format: Format) -> Result<(Value, Places), Problems> {
    match format {
        Format::Json => {
            let value = parse_json(file, text)?;
            let (_, places) = parse_yaml(file, &without_surrogates(text))?;
            Ok((value, places))
        }
        Format::Yaml => parse_yaml(file, text),
    }
}

fn parse_json(file: &str, text: &str) -> Result<Value, Problem> {
    serde_json::from_str(text).map_err(|error| broken_json(file, text, &error))
}

fn broken_json(file: &str, text: &str, error: &serde_json::Error) -> Problem {
    let (mut parser, mut track) = (serde_json::Deserializer::from_str(text), Track::new());
    // The error is known, and only its path isn't.
    let _ = Value::deserialize(serde_path_to_error::Deserializer::new(&mut parser, &mut track));
    let pointer = tokens(&track.path()).fold("#".to_owned(), |around, token| pointer::child(&around, &token));
    let message = error.to_string();
    let what = message.rsplit_once(" at line ").map_or(&*message, |(what, _)| what);
    // serde_json's columns count bytes. Column 0 is the end of the line before.
    let (line, bytes) = match (error.line(), error.column()) {
        (line, 0) => (line.max(2) - 1, usize::MAX),
        (line, column) => (line, column - 1),
    };
    let line_text = text.split('\n').nth(line - 1).unwrap_or_default();
    let before = line_text.char_indices().take_while(|(at, _)| *at < bytes);
    let column = before.count() + 1;
    Problem::new(file, what)
        .at(Place { line, column })
        .pointer(pointer)
        .help(NO_JSON)
}

fn parse_yaml(file: &str, text: &str) -> Result<(Value, Places), Problems> {
    let mut builder = Builder {
        file,
        ..Builder::default()
    };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| broken_yaml(file, &error))?;
        builder.event(event, place(&span.start))?;
    }
    Problems::check(builder.duplicates)?;
    // A file that only has comments is null.
    Ok((builder.root.unwrap_or_default(), builder.places))
}

fn place(marker: &Marker) -> Place {
    Place {
        line: marker.line(),
        column: marker.col() + 1,
    }
}

fn broken_yaml(file: &str, error: &ScanError) -> Problem {
    Problem::new(file, error.info()).at(place(error.marker())).help(NO_YAML)
}

/// Replaces escaped surrogates by other escapes of the same length. JSON escapes a character beyond U+FFFF as two
/// surrogates, which YAML doesn't support.
fn without_surrogates(json: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(json);
    // The text is valid JSON, so each backslash is followed by an ASCII character.
    let mut at = 0;
    while let Some(found) = json[at..].find('\\') {
        at += found;
        let escape = json.get(at + 1..at + 4).unwrap_or_default();
        let is_surrogate = escape.starts_with("ud") || escape.starts_with("uD");
        if is_surrogate && !matches!(escape.as_bytes()[2], b'0'..=b'7') {
            // `\udXYZ` becomes `\ueXYZ`, a private-use character, so that different names stay different.
            text.to_mut().replace_range(at + 2..at + 3, "e");
        }
        at += 2;
    }
    text
}

/// An open list or map.
struct Open {
    value: Value,
    pointer: String,
    place: Place,
    anchor: usize,
    /// The name of the member whose value is parsed next, and its place.
    name: Option<(String, Place)>,
}

/// Builds a value from the parser's events.
#[derive(Default)]
struct Builder<'file> {
    file: &'file str,
    root: Option<Value>,
    places: Places,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Value>,
    /// The size of all pointers in bytes.
    pointers: usize,
    /// The number of values copied for aliases.
    aliased: usize,
    /// Duplicate names of members. Parsing continues, so that all are found.
    duplicates: Vec<Problem>,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, place: Place) -> Result<(), Problem> {
        let awaits_name = self
            .open
            .last()
            .is_some_and(|open| open.value.is_object() && open.name.is_none());
        match event {
            Event::DocumentStart(_) if self.root.is_some() => Err(self.problem(place, "a second document starts here")),
            Event::Scalar(name, ..) if awaits_name => {
                self.name(name.into_owned(), place);
                Ok(())
            }
            Event::Alias(_) | Event::SequenceStart(..) | Event::MappingStart(..) if awaits_name => {
                Err(self.problem(place, "a member's name is text"))
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.check_tag(tag.as_deref(), place)?;
                let is_plain = style == ScalarStyle::Plain && tag.is_none_or(|tag| tag.suffix != "str");
                // An empty value has the place of its name.
                let name = self.open.last().and_then(|open| open.name.as_ref());
                let place = match name {
                    Some((_, place)) if is_plain && text.is_empty() => *place,
                    _ => place,
                };
                let value = if is_plain {
                    resolve_scalar(&text).ok_or_else(|| self.problem(place, "JSON has no such number"))?
                } else {
                    Value::String(text.into_owned())
                };
                self.add(value, place, anchor)
            }
            Event::SequenceStart(anchor, tag) => self.open(Value::Array(Vec::new()), place, anchor, tag.as_deref()),
            Event::MappingStart(anchor, tag) => self.open(Value::Object(Map::new()), place, anchor, tag.as_deref()),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => self.add(open.value, open.place, open.anchor),
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let Some(value) = self.anchors.get(&anchor).cloned() else {
                    return Err(self.problem(place, "this alias refers to a node that contains it"));
                };
                self.copied(&value, place)?;
                self.add(value, place, 0)
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, value: Value, place: Place, anchor: usize, tag: Option<&Tag>) -> Result<(), Problem> {
        self.check_tag(tag, place)?;
        if self.open.len() == MAX_DEPTH {
            return Err(self.problem(place, format!("nested more than {MAX_DEPTH} deep")));
        }
        self.open.push(Open {
            value,
            pointer: self.pointer(),
            place,
            anchor,
            name: None,
        });
        Ok(())
    }

    /// Sets the name of the next member.
    fn name(&mut self, name: String, place: Place) {
        let is_taken = self.open.last().is_some_and(|open| open.value.get(&name).is_some());
        if is_taken {
            let problem = Problem::new(self.file, "this name occurs twice in its object").at(place);
            let problem = problem.pointer(pointer::child(&self.pointer(), &name));
            let problem = problem.help("remove one of the two: readers differ in which one they take");
            self.duplicates.push(problem);
        }
        if let Some(open) = self.open.last_mut() {
            open.name = Some((name, place));
        }
    }

    /// Adds a complete value to the open list or map.
    fn add(&mut self, value: Value, place: Place, anchor: usize) -> Result<(), Problem> {
        if anchor != 0 {
            self.copied(&value, place)?;
            self.anchors.insert(anchor, value.clone());
        }
        let pointer = self.pointer();
        self.pointers += pointer.len();
        if self.pointers > MAX_POINTERS {
            let what = format!("the pointers to the values up to here take more than {MAX_POINTERS} bytes");
            return Err(self.problem(place, what).help("shorten the names around them"));
        }
        self.places.at(pointer).place = Some(place);
        let Some(open) = self.open.last_mut() else {
            self.root = Some(value);
            return Ok(());
        };
        match (&mut open.value, open.name.take()) {
            (Value::Object(members), Some((name, _))) => drop(members.insert(name, value)),
            (Value::Array(elements), _) => elements.push(value),
            _ => {}
        }
        Ok(())
    }

    /// Counts a copy of a value toward the limits, because nested aliases grow exponentially.
    fn copied(&mut self, value: &Value, place: Place) -> Result<(), Problem> {
        let (size, depth) = measure(value);
        self.aliased += size;
        if self.open.len() + depth > MAX_DEPTH {
            return Err(self.problem(place, format!("nested more than {MAX_DEPTH} deep")));
        }
        if self.aliased > MAX_ALIASED {
            return Err(self.problem(place, format!("aliases expand to more than {MAX_ALIASED} values")));
        }
        Ok(())
    }

    fn check_tag(&self, tag: Option<&Tag>, place: Place) -> Result<(), Problem> {
        match tag {
            Some(tag) if !tag.is_yaml_core_schema() => {
                Err(self.problem(place, format!("JSON has no tag such as {tag}")))
            }
            _ => Ok(()),
        }
    }

    fn problem(&self, place: Place, what: impl Into<String>) -> Problem {
        Problem::new(self.file, what)
            .at(place)
            .pointer(self.pointer())
            .help(NO_YAML)
    }

    /// Returns the pointer of the value that is parsed next.
    fn pointer(&self) -> String {
        let Some(Open {
            value, pointer, name, ..
        }) = self.open.last()
        else {
            return "#".to_owned();
        };
        match (value, name) {
            (Value::Array(elements), _) => format!("{pointer}/{}", elements.len()),
            (_, Some((name, _))) => pointer::child(pointer, name),
            _ => pointer.clone(),
        }
    }
}

/// Returns the number of values in a value, itself included, and their depth.
fn measure(value: &Value) -> (usize, usize) {
    let inner: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(elements) => Box::new(elements.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => return (1, 0),
    };
    inner.map(measure).fold((1, 1), |(size, depth), (inner, below)| {
        (size + inner, depth.max(below + 1))
    })
}

/// Returns the value of a plain scalar. `None` for a number that JSON doesn't have.
///
/// A scalar that only some YAML parsers read as a number, such as `012` or `1_000`, is a string.
fn resolve_scalar(text: &str) -> Option<Value> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_no_number(text) => return None,
        _ => number(text).map_or_else(|| text.into(), Value::Number),
    })
}

fn number(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let is_digits = digits.starts_with(|char: char| char.is_digit(radix));
            return u64::from_str_radix(digits, radix)
                .ok()
                .filter(|_| is_digits)
                .map(Number::from);
        }
    }
    let is_number = unsigned.starts_with(|char: char| char.is_ascii_digit() || char == '.');
    let has_leading_zero =
        unsigned.len() > 1 && unsigned.starts_with('0') && unsigned.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || has_leading_zero {
        return None;
    }
    let integer = text.parse::<i64>().map(Number::from);
    let integer = integer.or_else(|_| text.parse::<u64>().map(Number::from));
    integer.ok().or_else(|| Number::from_f64(text.parse().ok()?))
}

/// Whether a scalar is infinity or not-a-number.
fn is_no_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN")
}
