//! JSON texts that are validated while they are read.

use std::borrow::Cow;

use crate::{Json, JsonType};

/// A reader of a JSON text, with which [`Validator::accept`](crate::Validator::accept) validates a value without memory
/// for it.
///
/// Each method reads the value at the cursor, and fails if it isn't JSON. An object that has a duplicate member, at any
/// depth, is an error too.
pub trait Source<'a> {
    /// The error of reading.
    type Error;

    /// Returns the type of the value at the cursor, which doesn't move.
    ///
    /// # Errors
    /// When the text ends, or no value starts at the cursor.
    fn json_type(&mut self) -> Result<JsonType, Self::Error>;

    /// Skips the value.
    ///
    /// # Errors
    /// When it can't be read.
    fn skip(&mut self) -> Result<(), Self::Error>;

    /// Returns the value.
    ///
    /// # Errors
    /// When it can't be read.
    fn value(&mut self) -> Result<Json<'a>, Self::Error>;

    /// Reads an array, of which `element` reads each element.
    ///
    /// # Errors
    /// When it can't be read, or `element` fails.
    fn array(&mut self, element: impl FnMut(&mut Self) -> Result<(), Self::Error>) -> Result<(), Self::Error>;

    /// Reads an object, of which `member` reads each value by its name. Returns the names.
    ///
    /// # Errors
    /// When it can't be read, or `member` fails.
    fn object(
        &mut self,
        member: impl FnMut(&mut Self, &str) -> Result<(), Self::Error>,
    ) -> Result<Vec<Cow<'a, str>>, Self::Error>;

    /// Returns the error of a value that the schema doesn't accept.
    fn refuse(&self) -> Self::Error;
}
