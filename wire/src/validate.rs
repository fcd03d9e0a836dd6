//! Validation of values by their revision's schema.

use std::fmt;

use mcp_json_schema::path::{Path, Segment};
use mcp_json_schema::{Validator, Violation, ViolationKind, shortened};

use crate::encode::{self, Encode, EncodeError};
use crate::error::DecodeError;
use crate::message::{Batch, Call, ErrorResponse, Message, Notice, Response, UnknownMethod};
use crate::object::Object;
use crate::open::{RawJson, RawObject};
use crate::plain::plain_value;
use crate::reader::Reader;
use crate::schema::Schema;

/// A type whose values can be validated by their revision's schema.
///
/// Decoding is lenient: it accepts every value that the type can represent, so that a small mistake of a peer loses no
/// data. `validate` accepts exactly what the official schema accepts, as corrected by the revision's overlay.
pub trait Validate: Encode {
    /// The JSON Pointer of the type's definition in its revision's schema.
    const POINTER: &'static str;

    /// Returns the revision's schema.
    fn schema() -> &'static Schema;

    /// Validates the value by its definition.
    ///
    /// # Errors
    /// When the value is invalid. The error lists every violation.
    // Inlined, so that it is compiled where it is called, and not for every type of a revision.
    #[inline]
    fn validate(&self) -> Result<(), Invalid> {
        validate_at(self, Self::POINTER, Self::schema())
    }
}

impl<T: Validate + Object> Validate for Call<T> {
    const POINTER: &'static str = T::POINTER;

    fn schema() -> &'static Schema {
        T::schema()
    }

    /// Validates the request. An invalid envelope can't be decoded.
    fn validate(&self) -> Result<(), Invalid> {
        self.request.validate()
    }
}

impl<T: Validate + Object> Validate for Notice<T> {
    const POINTER: &'static str = T::POINTER;

    fn schema() -> &'static Schema {
        T::schema()
    }

    /// Validates the notification. An invalid envelope can't be decoded.
    fn validate(&self) -> Result<(), Invalid> {
        self.notification.validate()
    }
}

/// The names that revisions give to the definition of a response with a result.
const RESPONSE: [&str; 2] = ["JSONRPCResultResponse", "JSONRPCResponse"];

/// The names that revisions give to the definition of an error response.
const ERROR_RESPONSE: [&str; 2] = ["JSONRPCErrorResponse", "JSONRPCError"];

impl<T: Validate + serde_core::Serialize> Validate for Response<T> {
    const POINTER: &'static str = T::POINTER;

    fn schema() -> &'static Schema {
        T::schema()
    }

    /// Validates the response by the definition of JSON-RPC responses, and its result by the definition of the result.
    fn validate(&self) -> Result<(), Invalid> {
        let envelope = validate_envelope(self, &RESPONSE, T::schema());
        let result = self.result.validate();
        all([envelope, within(&Segment::Member("result".to_owned()), result)])
    }
}

impl<Q: Validate + Object, N: Validate + Object> Validate for Message<Q, N> {
    const POINTER: &'static str = Q::POINTER;

    /// Returns the schema of the requests, or of the notifications if the peer has no requests.
    fn schema() -> &'static Schema {
        match std::ptr::eq(Q::schema(), RawJson::schema()) {
            true => N::schema(),
            false => Q::schema(),
        }
    }

    /// Validates a request or notification by its own definition. A response is validated by the definition of JSON-RPC
    /// responses: it doesn't name its method, so the definition of its result is unknown.
    fn validate(&self) -> Result<(), Invalid> {
        match self {
            Self::Request(call) => call.validate(),
            Self::Notification(notice) => notice.validate(),
            Self::Response(response) => validate_envelope(response, &RESPONSE, Self::schema()),
            Self::Error(response) => validate_envelope::<ErrorResponse>(response, &ERROR_RESPONSE, Self::schema()),
        }
    }
}

impl<M: Validate> Validate for Batch<M> {
    const POINTER: &'static str = M::POINTER;

    fn schema() -> &'static Schema {
        M::schema()
    }

    /// Validates each message.
    fn validate(&self) -> Result<(), Invalid> {
        match self {
            Self::One(message) => message.validate(),
            Self::Many(messages) => {
                let messages = messages.iter().enumerate();
                all(messages.map(|(index, message)| within(&Segment::Index(index), message.validate())))
            }
        }
    }
}

/// Any JSON is valid, except that a member must not occur twice.
impl Validate for RawJson {
    const POINTER: &'static str = "#";

    fn schema() -> &'static Schema {
        static ANY: Schema = Schema::new("", "true");
        &ANY
    }
}

/// Any object is valid, except that a member must not occur twice.
impl Validate for RawObject {
    const POINTER: &'static str = RawJson::POINTER;

    fn schema() -> &'static Schema {
        RawJson::schema()
    }
}

/// A message whose method the revision doesn't declare is invalid.
impl Validate for UnknownMethod {
    const POINTER: &'static str = RawJson::POINTER;

    fn schema() -> &'static Schema {
        RawJson::schema()
    }

    fn validate(&self) -> Result<(), Invalid> {
        let mut path = Path::default();
        path.push_member("method");
        let violation = Violation {
            kind: ViolationKind::Refused,
            path,
            expected: "a method of the revision".to_owned(),
            found: format!("{:?}", shortened(&self.method)),
            schema: String::new(),
        };
        Err(Invalid {
            violations: vec![violation],
        })
    }
}

/// Validates a response by the first of the definitions that exists in its revision.
fn validate_envelope<T: Encode>(response: &T, definitions: &[&str], schema: &Schema) -> Result<(), Invalid> {
    let Ok(validator) = schema.validator() else {
        return Ok(());
    };
    let pointers = definitions
        .iter()
        .flat_map(|name| ["$defs", "definitions"].map(|within| format!("#/{within}/{name}")));
    match pointers.into_iter().find(|pointer| validator.has(pointer)) {
        Some(pointer) => validate_at(response, &pointer, schema),
        None => Ok(()),
    }
}

/// Prepends the place of a part to the paths of its violations.
fn within(place: &Segment, validated: Result<(), Invalid>) -> Result<(), Invalid> {
    validated.map_err(|mut invalid| {
        for violation in &mut invalid.violations {
            let inner = violation.path.segments().iter().rev();
            violation.path = Path::from_reversed(inner.chain([place]).cloned().collect());
        }
        invalid
    })
}

/// Collects the violations of all parts.
fn all(parts: impl IntoIterator<Item = Result<(), Invalid>>) -> Result<(), Invalid> {
    let invalid = parts.into_iter().filter_map(Result::err);
    none(invalid.flat_map(|invalid| invalid.violations).collect())
}

/// Checks that there are no violations.
fn none(violations: Vec<Violation>) -> Result<(), Invalid> {
    match violations.is_empty() {
        true => Ok(()),
        false => Err(Invalid { violations }),
    }
}

/// Validates `value` by the definition at `pointer`.
///
/// # Errors
/// When the value is invalid.
pub fn validate_at<T: Encode + ?Sized>(value: &T, pointer: &str, schema: &Schema) -> Result<(), Invalid> {
    match encode::to_string(value) {
        Ok(text) => validate_text(&text, pointer, schema),
        Err(error) => Err(Invalid {
            violations: vec![unwritable(&error)],
        }),
    }
}

/// Validates a JSON text by the definition at `pointer`.
///
/// # Errors
/// When the value is invalid, the text isn't JSON, or an object in it has a duplicate member.
pub fn validate_text(json: &str, pointer: &str, schema: &Schema) -> Result<(), Invalid> {
    if accepts_text(json, pointer, schema) {
        return Ok(());
    }
    let violations = match (plain_value(json), schema.validator_at(pointer)) {
        (Ok(json), Ok(validator)) => validator.validate_json(pointer, &json),
        (Err(error), _) => vec![unreadable(&error)],
        // Every value is invalid by a schema that can't be compiled.
        (_, Err(error)) => vec![Violation::unfinished(
            pointer,
            "a schema to validate by",
            error.to_string(),
        )],
    };
    none(violations)
}

/// Whether a JSON text is valid by the definition at `pointer`. The reason isn't determined.
#[must_use]
pub fn accepts_text(json: &str, pointer: &str, schema: &Schema) -> bool {
    let validator = schema.validator_at(pointer);
    validator.is_ok_and(|validator| is_valid(json, pointer, &validator))
}

/// Whether a text is JSON that is valid by the subschema of a validator at `pointer`, without duplicate members. This is
/// faster than a validation that explains its verdict, and takes no memory for the value.
#[must_use]
pub fn is_valid(json: &str, pointer: &str, validator: &Validator) -> bool {
    Reader::new(json)
        .whole(|reader| validator.accept(pointer, reader))
        .is_ok()
}

/// Creates the violation of a text that can't be read, for example because a member occurs twice.
fn unreadable(error: &DecodeError) -> Violation {
    Violation {
        kind: ViolationKind::Refused,
        path: error.path(),
        expected: error.expected().to_owned(),
        found: error.found().to_owned(),
        schema: "#".to_owned(),
    }
}

/// Creates the violation of a value that can't be serialized.
fn unwritable(error: &EncodeError) -> Violation {
    Violation {
        kind: ViolationKind::Refused,
        path: Path::default(),
        expected: "a value that can be written as JSON".to_owned(),
        found: error.to_string(),
        schema: "#".to_owned(),
    }
}

/// The error of a value that its schema doesn't accept.
#[derive(Debug, Clone, PartialEq)]
pub struct Invalid {
    /// The violations, at least one, in the order of the value.
    pub violations: Vec<Violation>,
}

/// The error of a text that can't be validated, because it isn't JSON or a member occurs twice.
impl From<DecodeError> for Invalid {
    fn from(error: DecodeError) -> Self {
        Self {
            violations: vec![unreadable(&error)],
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
