//! Why values can't be validated by a document.

use std::fmt;

use serde_json::Value;

use super::value::Json;
use super::violation::found;

/// Everything about a schema document that keeps values from being validated by it exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    problems: Vec<Problem>,
}

/// One thing that is wrong with a schema document, or that this validator doesn't support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where in the document, as in `#/$defs/Tool/properties/name/pattern`.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

impl SchemaError {
    pub(super) fn new(problems: Vec<Problem>) -> Self {
        Self { problems }
    }

    /// What is wrong, each with its place.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.message)
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("values can't be validated by this schema")?;
        for problem in &self.problems {
            write!(f, "\n  {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SchemaError {}

/// The message of a keyword whose value isn't what the meta-schema demands.
pub(super) fn unexpected(expected: &str, value: &Value) -> String {
    format!("expected {expected}, found {}", found(&Json::borrowed(value)))
}
