//! Validation of values by their revision's schema.

use std::fmt;

use crate::encode::{self, Encode};
use crate::error::DecodeError;
use crate::message::{Call, Notice};
use crate::path::Path;
use crate::plain::plain_value;
use crate::schema::Schema;
use crate::text::shortened;
use crate::validator::{SchemaError, Violation, ViolationKind};

/// A type whose values can be validated by their revision's schema.
///
/// Decoding is lenient: it accepts every value that the type can represent, so that a small mistake of a peer loses no data.
/// `validate` accepts exactly what the official schema accepts, as corrected by the revision's overlay.
pub trait Validate: Encode {
    /// The JSON pointer of the type's definition in its revision's schema.
    const POINTER: &'static str;

    /// The revision's schema.
    fn schema() -> &'static Schema;

    /// Validates the value by its definition.
    ///
    /// # Errors
    /// When the value is invalid. The error lists every violation.
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

    /// Validates the request. An invalid envelope can't be decoded.
    fn validate(&self) -> Result<(), Invalid> {
        self.request.validate()
    }
}

impl<T: Validate + crate::Object> Validate for Notice<T> {
    const POINTER: &'static str = T::POINTER;

    fn schema() -> &'static Schema {
        T::schema()
    }

    /// Validates the notification. An invalid envelope can't be decoded.
    fn validate(&self) -> Result<(), Invalid> {
        self.notification.validate()
    }
}

/// Validates `value` by the definition at `pointer`.
///
/// # Errors
/// When the value is invalid.
pub fn validate_at<T: Encode + ?Sized>(value: &T, pointer: &str, schema: &Schema) -> Result<(), Invalid> {
    let violations = match encode::to_string(value) {
        Ok(text) => match (plain_value(&text), schema.validator()) {
            (Ok(json), Ok(validator)) => validator.validate_json(pointer, &json),
            (Err(error), _) => vec![Violation::unreadable(&error)],
            (_, Err(error)) => vec![unusable_schema(pointer, error)],
        },
        Err(error) => vec![Violation::unwritable(error)],
    };
    if violations.is_empty() {
        return Ok(());
    }
    Err(Invalid { violations })
}

/// The violation of every value, because the schema can't be compiled.
fn unusable_schema(pointer: &str, error: &SchemaError) -> Violation {
    Violation {
        kind: ViolationKind::Unfinished,
        path: Path::default(),
        expected: "a schema to validate by".to_owned(),
        found: error.to_string(),
        schema: pointer.to_owned(),
    }
}

/// The error of a value that its schema doesn't accept.
#[derive(Debug, Clone, PartialEq)]
pub struct Invalid {
    /// The violations, in the order of the value. There is at least one.
    pub violations: Vec<Violation>,
}

impl Invalid {
    /// The error of a message whose method the revision doesn't declare.
    #[must_use]
    pub fn unknown_method(method: &str) -> Self {
        let mut path = Path::default();
        path.push_member("method");
        Self {
            violations: vec![Violation {
                kind: ViolationKind::Refused,
                path,
                expected: "a method of the revision".to_owned(),
                found: format!("{:?}", shortened(method)),
                schema: String::new(),
            }],
        }
    }
}

/// The error of a text that can't be validated, because it isn't JSON or a member occurs twice.
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
