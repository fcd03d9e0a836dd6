//! A substitute without regular expressions, for builds without the feature `pattern`.

use super::error::PatternError;

#[derive(Debug)]
pub(super) enum Pattern {}

impl Pattern {
    /// Fails because the feature is missing.
    pub(super) fn new(_source: &str) -> Result<Self, PatternError> {
        Err(PatternError::unsupported(
            "a regular expression needs mcp-json-schema's feature `pattern`",
        ))
    }

    pub(super) fn source(&self) -> &str {
        match *self {}
    }

    pub(super) fn matches(&self, _text: &str) -> bool {
        match *self {}
    }

    pub(super) fn bytes(&self) -> usize {
        match *self {}
    }

    pub(super) fn steps(&self, _text: &str) -> u64 {
        match *self {}
    }
}
