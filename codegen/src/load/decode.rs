//! Decodes values of a document, and reports where that fails.

use std::collections::{BTreeMap, BTreeSet};

use mcp_json_schema::pointer;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::places::is_within;
use crate::problem::Problem;

/// The maximum number of problems that are reported of one value, because each takes another attempt.
const MAX_PROBLEMS: usize = 100;

/// Decodes the value at a pointer. serde stops at the first problem, so that further attempts without the wrong values
/// find the others.
pub(super) fn decode<T: DeserializeOwned>(root: &Value, pointer: &str) -> Result<T, Vec<Problem>> {
    let value = pointer::resolve(root, pointer).unwrap_or(&Value::Null);
    let mut error = match serde_path_to_error::deserialize(value) {
        Ok(decoded) => return Ok(decoded),
        Err(error) => error,
    };
    let (mut rest, mut problems) = (Rest::new(pointer, value), Vec::<Problem>::new());
    while problems.len() < MAX_PROBLEMS {
        let message = error.inner().to_string();
        let path = tokens_of(error.path(), &message, &rest.value);
        let at = rest.pointer(&path);
        // What is wrong around a removed value, such as a missing member, may be a consequence of its removal.
        if !problems.iter().any(|problem| is_within(&problem.pointer, &at)) {
            let found = pointer::resolve(root, &at).unwrap_or(&Value::Null);
            problems.push(Problem::at_pointer(&at, plain(&message, found)));
        }
        if !rest.remove(&path) {
            break;
        }
        match serde_path_to_error::deserialize::<_, T>(&rest.value) {
            Ok(_) => break,
            Err(next) => error = next,
        }
    }
    Err(problems)
}

/// A value without those parts whose problems are known.
struct Rest<'v> {
    /// The pointer of the value in its document.
    at: &'v str,
    value: Value,
    /// The original indices of the removed elements, by the pointers of their lists.
    removed: BTreeMap<String, BTreeSet<usize>>,
}

impl<'v> Rest<'v> {
    fn new(at: &'v str, value: &Value) -> Self {
        Self {
            at,
            value: value.clone(),
            removed: BTreeMap::new(),
        }
    }

    /// Returns the pointer in the document of the value at a path.
    fn pointer(&self, path: &[String]) -> String {
        path.iter().fold(self.at.to_owned(), |list, token| {
            let index = self.removed.get(&list).zip(token.parse::<usize>().ok());
            let original = index.map(|(removed, index)| {
                removed
                    .iter()
                    .fold(index, |index, removed| index + usize::from(*removed <= index))
            });
            let token = original.map_or_else(|| token.clone(), |index| index.to_string());
            pointer::child(&list, &token)
        })
    }

    /// Removes the value at a path. Returns `false` for the whole value, which can't be removed.
    fn remove(&mut self, path: &[String]) -> bool {
        let Some((last, around)) = path.split_last() else {
            return false;
        };
        let element = self.pointer(path);
        let at = around
            .iter()
            .fold(String::from("#"), |at, token| pointer::child(&at, token));
        match (self.value.pointer_mut(&at[1..]), last.parse::<usize>()) {
            (Some(Value::Object(members)), _) => members.remove(last).is_some(),
            (Some(Value::Array(elements)), Ok(index)) if index < elements.len() => {
                elements.remove(index);
                if let Some((list, original)) = element.rsplit_once('/') {
                    self.removed
                        .entry(list.to_owned())
                        .or_default()
                        .extend(original.parse::<usize>());
                }
                true
            }
            _ => false,
        }
    }
}

/// Returns a path as the tokens of a JSON pointer.
pub(super) fn tokens(path: &Path) -> impl Iterator<Item = String> {
    path.iter().filter_map(|segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        // The name of a variant with a value is the name of its member.
        Segment::Enum { variant } => Some(variant.clone()),
        Segment::Unknown => None,
    })
}

/// Returns the path of the value that an error is about, as the tokens of a JSON pointer.
fn tokens_of(path: &Path, message: &str, root: &Value) -> Vec<String> {
    let (mut tokens, mut value) = (Vec::new(), root);
    // An unknown member isn't in the path, which ends at the object around it.
    let unknown = message
        .strip_prefix("unknown field `")
        .and_then(|rest| rest.split('`').next());
    let unknown = unknown.map(str::to_owned);
    for token in self::tokens(path).chain(unknown) {
        if let Some(inner) = pointer::resolve(value, &pointer::child("#", &token)) {
            value = inner;
            tokens.push(token);
        }
    }
    tokens
}

/// Returns serde's message in the terms of JSON. `found` is the wrong value.
fn plain(message: &str, found: &Value) -> String {
    let mismatches = ["invalid type: ", "invalid value: ", "invalid length "];
    let expected = message.split_once(", expected ");
    let Some((_, expected)) = expected.filter(|_| mismatches.iter().any(|start| message.starts_with(start))) else {
        return message.to_owned();
    };
    let found = match found {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        scalar => scalar.to_string(),
    };
    let expected = match expected {
        "a map" => "an object",
        "a sequence" => "an array",
        "a borrowed string" | "string" => "a string",
        "string or map" => "a string or an object",
        "map with a single key" => "an object with one member",
        expected if is_integer(expected) => "an integer",
        // The name of the type in Rust says nothing to the author of a file.
        expected if expected.starts_with("struct ") || expected.starts_with("internally tagged enum ") => "an object",
        expected => expected,
    };
    format!("expected {expected}, found {found}")
}

fn is_integer(ty: &str) -> bool {
    ty.strip_prefix(['i', 'u'])
        .is_some_and(|bits| ["8", "16", "32", "64", "size"].contains(&bits))
}
