//! Validation of values by their revision's schema.

use std::fmt;

use serde_core::Serialize;

use crate::error::DecodeError;
use crate::message::{Call, Notice};
use crate::path::Path;
use crate::plain::plain_value;
use crate::schema::Schema;
use crate::text::shortened;
use crate::validator::Violation;

/// A type whose values can be validated by the schema that they come from.
///
/// Decoding accepts whatever the type can hold, so that a small mistake of a peer loses no data. `validate` accepts exactly
/// what the official schema accepts, as corrected by the revision's overlay.
pub trait Validate: Serialize {
    /// Where the type is defined in its revision's schema.
    const POINTER: &'static str;

    /// That schema.
    fn schema() -> &'static Schema;

    /// Reports every departure from the schema.
    ///
    /// # Errors
    /// When there is any.
    // Inline, so that it is compiled where it is called and not for every type of a revision.
    #[inline]
    fn validate(&self) -> Result<(), Invalid> {
        validate_at(self, Self::POINTER, Self::schema())
    }
}

impl<T: Validate + crate::Object> Validate for Call<T> {
    const POINTER: &'static str = T::POINTER;

    fn schema() -> &'static Schema {
        T::schema()
    }

    /// Validates the request. Its envelope is valid, or it couldn't have been decoded.
    fn validate(&self) -> Result<(), Invalid> {
        self.request.validate()
    }
}

impl<T: Validate + crate::Object> Validate for Notice<T> {
    const POINTER: &'static str = T::POINTER;

    fn schema() -> &'static Schema {
        T::schema()
    }

    /// Validates the notification. Its envelope is valid, or it couldn't have been decoded.
    fn validate(&self) -> Result<(), Invalid> {
        self.notification.validate()
    }
}

/// Validates `value` by the definition at `pointer`.
///
/// # Errors
/// When it departs from it.
pub fn validate_at<T: Serialize + ?Sized>(value: &T, pointer: &str, schema: &Schema) -> Result<(), Invalid> {
    let violations = match serde_json::to_string(value) {
        Ok(text) => match plain_value(&text) {
            Ok(json) => schema.validator().validate_json(pointer, &json),
            Err(error) => vec![Violation::unreadable(&error)],
        },
        Err(error) => vec![Violation::unwritable(&error)],
    };
    if violations.is_empty() {
        return Ok(());
    }
    Err(Invalid { violations })
}

/// A value that departs from its schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Invalid {
    /// Every departure, in the order of the value; at least one.
    pub violations: Vec<Violation>,
}

impl Invalid {
    /// A method that the revision doesn't declare, so that its messages can't be validated.
    #[must_use]
    pub fn unknown_method(method: &str) -> Self {
        let mut path = Path::default();
        path.push_member("method");
        Self {
            violations: vec![Violation {
                path,
                expected: "a method of the revision".to_owned(),
                found: format!("{:?}", shortened(method)),
                schema: String::new(),
            }],
        }
    }
}

/// A text that can't be validated, because it isn't JSON or has a member twice.
impl From<DecodeError> for Invalid {
    fn from(error: DecodeError) -> Self {
        Self {
            violations: vec![Violation::unreadable(&error)],
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.violations.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            violation.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Invalid {}
