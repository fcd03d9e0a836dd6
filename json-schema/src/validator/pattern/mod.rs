//! The regular expressions of `pattern` and `patternProperties`, with the feature `pattern`.
//!
//! Every match takes time proportional to the length of the text. A pattern that needs a backtracking engine is refused
//! when the schema is compiled.

mod class;
mod translate;

use super::error::PatternError;

/// The error of a pattern that would take too much time or memory.
const TOO_LARGE: &str = "the regular expression is too large, or nested too deep";

/// An ECMAScript regular expression.
#[derive(Debug)]
pub(super) struct Pattern {
    source: String,
    regex: regex_lite::Regex,
    size: u64,
}

impl Pattern {
    pub(super) fn new(source: &str) -> Result<Self, PatternError> {
        let translated = translate::translate(source)?;
        let regex = regex_lite::RegexBuilder::new(&translated.regex).build();
        let regex = regex.map_err(|_| PatternError::unsupported(TOO_LARGE))?;
        Ok(Self {
            source: source.to_owned(),
            regex,
            size: translated.size,
        })
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Returns the approximate number of bytes of memory that the compiled expression takes.
    pub(super) fn bytes(&self) -> usize {
        const BYTES_OF_A_STATE: usize = 32;
        self.source.len()
            + usize::try_from(self.size)
                .unwrap_or(usize::MAX)
                .saturating_mul(BYTES_OF_A_STATE)
    }

    /// Returns the number of steps of a match. At most characters, most states of the engine aren't active.
    pub(super) fn steps(&self, text: &str) -> u64 {
        const STATES_OF_A_STEP: u64 = 8;
        1 + text.len() as u64 * self.size / STATES_OF_A_STEP
    }
}
