//! The errors of a reader, at its position.

use std::borrow::Cow;

use super::{JsonType, MAX_DEPTH, Reader};
use crate::error::{DecodeError, DecodeErrorKind};

impl Reader<'_> {
    /// Creates the error for a value of an unexpected type.
    #[must_use]
    pub fn wrong_type(&self, expected: impl Into<Cow<'static, str>>, found: JsonType) -> DecodeError {
        let kind = DecodeErrorKind::WrongType;
        DecodeError::new(kind, expected, found.with_article(), self.position)
    }

    /// Creates the error for a required member that is absent from the object that ends here.
    #[must_use]
    pub fn missing(&self, member: &str) -> DecodeError {
        let kind = DecodeErrorKind::MissingMember;
        DecodeError::new(kind, "a required member", "nothing", self.position).in_member(member)
    }

    /// Creates the error for a second member of the same name.
    #[must_use]
    pub fn duplicate(&self, member: &str) -> DecodeError {
        let kind = DecodeErrorKind::DuplicateMember;
        DecodeError::new(kind, "the member once", "it again", self.position).in_member(member)
    }

    /// Creates the error for an object that isn't a message.
    pub(crate) fn not_a_message(&self, expected: &'static str, found: impl Into<Cow<'static, str>>) -> DecodeError {
        DecodeError::new(DecodeErrorKind::NotAMessage, expected, found, self.position)
    }

    pub(super) fn too_deep(&self) -> DecodeError {
        let expected = format!("at most {MAX_DEPTH} levels of nesting");
        DecodeError::new(DecodeErrorKind::TooDeep, expected, "deeper ones", self.position)
    }

    pub(crate) fn syntax(&self, expected: &'static str) -> DecodeError {
        self.syntax_at(self.position, expected)
    }

    /// The error for a character at `position` that isn't what was expected.
    pub(crate) fn syntax_at(&self, position: usize, expected: &'static str) -> DecodeError {
        let found = match self.text[position..].chars().next() {
            Some(character) => Cow::Owned(format!("{character:?} at byte {position}")),
            None => Cow::Borrowed("the end of the text"),
        };
        DecodeError::new(DecodeErrorKind::Syntax, expected, found, position)
    }
}
