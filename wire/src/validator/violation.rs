//! What a value has against it.

use std::fmt;

use serde_json::Value;

use crate::error::DecodeError;
use crate::path::Path;
use crate::text::shortened;

use super::value::Json;

/// One way in which a value isn't what its schema says.
///
/// Displays as `` `params.messages[2].content.type`: expected "text", found "txt" ``.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where in the value.
    pub path: Path,
    /// What the schema allows there.
    pub expected: String,
    /// What is there, shortened where it is long.
    pub found: String,
    /// The pointer of the keyword that refused, as in `#/$defs/TextContent/properties/type/const`.
    pub schema: String,
}

impl Violation {
    /// The violation of a text that can't be read, because it has half a surrogate pair or a member twice, for example.
    pub(crate) fn unreadable(error: &DecodeError) -> Self {
        Self {
            path: error.path(),
            expected: error.expected().to_owned(),
            found: error.found().to_owned(),
            schema: "#".to_owned(),
        }
    }

    /// The violation of a value that can't be written as JSON, so that it can't be validated either.
    pub(crate) fn unwritable(error: &serde_json::Error) -> Self {
        Self {
            path: Path::default(),
            expected: "a value that can be written as JSON".to_owned(),
            found: error.to_string(),
            schema: "#".to_owned(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path, expected, found, ..
        } = self;
        write!(f, "`{path}`: expected {expected}, found {found}")
    }
}

/// What a value is, in a few words: scalars as JSON, arrays and objects as just that.
pub(super) fn found(value: &Json<'_>) -> String {
    match value {
        Json::Array(_) => "an array".to_owned(),
        Json::Object(_) => "an object".to_owned(),
        Json::String(text) => quoted(text),
        _ => shortened(&value.to_string()).into_owned(),
    }
}

/// A text as JSON, shortened.
pub(super) fn quoted(text: &str) -> String {
    Value::from(shortened(text)).to_string()
}

/// One of the values that a schema allows, as JSON, shortened.
pub(super) fn constant(value: &Json<'_>) -> String {
    match value {
        Json::String(text) => quoted(text),
        _ => shortened(&value.to_string()).into_owned(),
    }
}

/// The values that a schema allows: `"a"`, or `one of "a", "b"`.
pub(super) fn constants<'a>(values: impl IntoIterator<Item = &'a Json<'a>>) -> String {
    const LISTED: usize = 20;
    let mut values: Vec<String> = values.into_iter().map(constant).collect();
    let left_out = values.len().saturating_sub(LISTED);
    values.truncate(LISTED);
    match values.as_slice() {
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
    fn a_violation_names_the_place_and_both_sides() {
        let mut path = Path::default();
        path.push_member("params");
        path.push_member("type");
        let violation = Violation {
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
