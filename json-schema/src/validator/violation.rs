//! Violations of a schema.

use std::fmt;

use serde_json::Value;

use crate::path::Path;
use crate::{Json, shortened};

/// A part of a value that its schema doesn't accept, or where its validation ended.
///
/// Displays as `` `params.messages[2].content.type`: expected "text", found "txt" ``.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Whether the schema refuses the part, or its validation wasn't finished.
    pub kind: ViolationKind,
    /// The path to the part.
    pub path: Path,
    /// A description of what the schema accepts.
    pub expected: String,
    /// A description of the part, shortened if it is long.
    pub found: String,
    /// The JSON Pointer of the keyword that refused it, such as `#/$defs/TextContent/properties/type/const`.
    pub schema: String,
}

/// The kind of a [`Violation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViolationKind {
    /// The schema doesn't accept the part.
    Refused,
    /// The value wasn't validated completely: the validation would exceed a limit, or there is no schema to validate
    /// by.
    Unfinished,
}

impl Violation {
    /// Returns the message without the path.
    #[must_use]
    pub fn reason(&self) -> String {
        format!("expected {}, found {}", self.expected, self.found)
    }

    /// Creates the violation of a value that isn't validated by the schema at a pointer.
    #[must_use]
    pub fn unfinished(pointer: &str, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            kind: ViolationKind::Unfinished,
            path: Path::default(),
            expected: expected.into(),
            found: found.into(),
            schema: pointer.to_owned(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path, self.reason())
    }
}

/// Describes a value: scalars as JSON, others as `an array` or `an object`.
pub(super) fn found(value: &Json<'_>) -> String {
    match value {
        Json::Array(_) => "an array".to_owned(),
        Json::Object(_) => "an object".to_owned(),
        _ => constant(value),
    }
}

/// Returns a text as JSON, shortened.
pub(super) fn quoted(text: &str) -> String {
    Value::from(shortened(text)).to_string()
}

/// Returns a value that a schema allows as JSON, shortened.
pub(super) fn constant(value: &Json<'_>) -> String {
    match value {
        Json::String(text) => quoted(text),
        _ => shortened(&value.to_string()).into_owned(),
    }
}

/// Describes the values that a schema allows: `"a"`, or `one of "a", "b"`.
pub(super) fn constants<'a>(values: impl IntoIterator<Item = &'a Json<'a>>) -> String {
    const LISTED: usize = 20;
    let mut values = values.into_iter();
    let listed: Vec<String> = values.by_ref().take(LISTED).map(constant).collect();
    let left_out = values.count();
    match listed.as_slice() {
        [] => "no value at all".to_owned(),
        [only] => only.clone(),
        listed if left_out == 0 => format!("one of {}", listed.join(", ")),
        listed => format!("one of {} or {left_out} others", listed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_violation_is_displayed_with_its_path_and_both_values() {
        let mut path = Path::default();
        path.push_member("params");
        path.push_member("type");
        let violation = Violation {
            kind: ViolationKind::Refused,
            path,
            expected: constants([&Json::owned(&json!("text"))]),
            found: found(&Json::owned(&json!("txt"))),
            schema: "#/const".to_owned(),
        };
        assert_eq!(violation.to_string(), r#"`params.type`: expected "text", found "txt""#);
    }

    #[test]
    fn a_long_text_is_shortened() {
        let shown = found(&Json::owned(&json!("é".repeat(1_000_000))));
        assert_eq!(shown.chars().count(), 80 + 3);
    }
}
