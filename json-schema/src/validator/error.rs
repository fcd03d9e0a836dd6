//! The errors of compiling a schema document.

use std::fmt;

use serde_json::Value;

use super::violation::found;
use crate::json::Json;

/// The error of a schema document that can't be compiled. It has all problems of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    problems: Vec<Problem>,
}

/// The maximum number of problems that are listed. They are few in a document that a person can correct, and each can
/// take much more memory than the mistake.
pub(super) const MAX_PROBLEMS: usize = 1000;

/// A mistake in a schema document, or something that this validator doesn't support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The JSON Pointer of the problem, such as `#/$defs/Tool/properties/name/pattern`.
    pub pointer: String,
    /// The kind of the problem.
    pub kind: ProblemKind,
    /// The problem in one sentence.
    pub message: String,
}

/// The kind of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A regular expression that JSON Schema allows and this validator doesn't: it can't be matched in linear time, or
    /// is too large.
    UnsupportedPattern,
    /// A mistake, or something else that this validator doesn't support.
    Other,
}

impl Problem {
    pub(super) fn new(pointer: impl Into<String>, message: impl ToString) -> Self {
        Self {
            pointer: pointer.into(),
            kind: ProblemKind::Other,
            message: message.to_string(),
        }
    }
}

impl SchemaError {
    pub(super) fn new(problems: Vec<Problem>) -> Self {
        Self { problems }
    }

    /// Creates the error of a document that isn't JSON.
    pub(super) fn not_json(error: &serde_json::Error) -> Self {
        Self::new(vec![Problem::new("#", error)])
    }

    /// Returns the problems, each with its place.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

/// The reason why a regular expression can't be compiled.
#[derive(Debug)]
pub(super) struct PatternError {
    pub(super) kind: ProblemKind,
    pub(super) message: String,
}

impl PatternError {
    /// The error of a regular expression that JSON Schema allows.
    pub(super) fn unsupported(message: impl Into<String>) -> Self {
        Self {
            kind: ProblemKind::UnsupportedPattern,
            message: message.into(),
        }
    }
}

/// The error of a regular expression that JSON Schema doesn't allow.
impl<M: Into<String>> From<M> for PatternError {
    fn from(message: M) -> Self {
        Self {
            kind: ProblemKind::Other,
            message: message.into(),
        }
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

/// Returns the message about a keyword whose value the meta-schema doesn't allow.
pub(super) fn unexpected(expected: &str, value: &Value) -> String {
    format!("expected {expected}, found {}", found(&Json::borrowed(value)))
}
