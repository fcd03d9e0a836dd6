//! Errors of decoding, with the path to the value.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use mcp_json_schema::path::{Path, Segment};

/// The result of decoding: a value, or the first error.
///
/// Generated code uses this alias, because revisions declare their own types `Result` and `Error`.
pub type Decoded<T> = Result<T, DecodeError>;

/// The error for a JSON text that can't be decoded into a type.
///
/// Displays as `` `params.messages[2].content.type`: expected a string, found a number ``.
#[derive(Clone, PartialEq, Eq)]
pub struct DecodeError(
    // Every function that decodes has code to drop an error: a call for an `Arc`, but more code for a `Box`.
    Arc<Details>,
);

#[derive(Clone, PartialEq, Eq)]
struct Details {
    kind: DecodeErrorKind,
    expected: Cow<'static, str>,
    found: Cow<'static, str>,
    offset: usize,
    /// The path, the innermost segment first. Each level appends its segment when it returns the error, so that success
    /// costs nothing.
    reversed: Vec<Segment>,
}

/// The kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The text isn't JSON, or isn't UTF-8.
    Syntax,
    /// The value has another JSON type than expected.
    WrongType,
    /// The value has the expected type but can't be represented, such as an integer beyond 64 bits.
    OutOfRange,
    /// A required member is absent.
    MissingMember,
    /// A member occurs twice in one object.
    DuplicateMember,
    /// The value is nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    TooDeep,
    /// The value takes more memory than the limit for its text: 24 times the length of the text, and at least a
    /// mebibyte.
    MemoryLimit,
    /// The object is neither a request, a notification nor a response.
    NotAMessage,
}

impl DecodeError {
    pub(crate) fn new(
        kind: DecodeErrorKind,
        expected: impl Into<Cow<'static, str>>,
        found: impl Into<Cow<'static, str>>,
        offset: usize,
    ) -> Self {
        Self(Arc::new(Details {
            kind,
            expected: expected.into(),
            found: found.into(),
            offset,
            reversed: Vec::new(),
        }))
    }

    /// Prepends `member` to the path.
    #[must_use]
    pub fn in_member(mut self, member: &str) -> Self {
        Arc::make_mut(&mut self.0).reversed.push(Segment::shortened(member));
        self
    }

    /// Prepends the index of an element to the path.
    #[must_use]
    pub fn in_element(mut self, index: usize) -> Self {
        Arc::make_mut(&mut self.0).reversed.push(Segment::Index(index));
        self
    }

    /// Returns the kind of error.
    #[must_use]
    pub fn kind(&self) -> DecodeErrorKind {
        self.0.kind
    }

    /// Returns the path from the root of the decoded value.
    #[must_use]
    pub fn path(&self) -> Path {
        Path::from_reversed(self.0.reversed.clone())
    }

    /// Returns a description of the expected value.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// Returns a description of the value that was found instead.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// Returns the offset of the error in the text, in bytes.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// Returns the message without the path: `expected a string, found a number`.
    #[must_use]
    pub fn reason(&self) -> String {
        format!("expected {}, found {}", self.0.expected, self.0.found)
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.reversed.is_empty() {
            write!(f, "`{}`: ", self.path())?;
        }
        f.write_str(&self.reason())
    }
}

impl fmt::Debug for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecodeError")
            .field("kind", &self.0.kind)
            .field("path", &self.path().to_string())
            .field("expected", &self.0.expected)
            .field("found", &self.0.found)
            .field("offset", &self.0.offset)
            .finish()
    }
}

impl std::error::Error for DecodeError {}
