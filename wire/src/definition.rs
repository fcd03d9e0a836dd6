//! A revision's definitions by name, for types that are known only at run time.

use crate::decode::{Decode, from_slice};
use crate::encode::{Encode, EncodeError, to_string};
use crate::error::Decoded;
use crate::schema::Schema;
use crate::validate::{Invalid, validate_at};

/// A definition of a revision's schema.
#[derive(Clone, Copy)]
pub struct Definition {
    /// The name of the definition in the schema.
    pub name: &'static str,
    /// The JSON Pointer of the definition in the schema.
    pub pointer: &'static str,
    schema: &'static Schema,
    decode: fn(&[u8]) -> Decoded<Box<dyn ErasedValue>>,
}

impl Definition {
    /// Creates the definition `name` at `pointer`, whose instances have the type `T`.
    #[must_use]
    pub const fn new<T: Decode + Encode + 'static>(
        name: &'static str,
        pointer: &'static str,
        schema: &'static Schema,
    ) -> Self {
        Self {
            name,
            pointer,
            schema,
            decode: |json| from_slice::<T>(json).map(|value| Box::new(value) as Box<dyn ErasedValue>),
        }
    }

    /// Decodes an instance.
    ///
    /// # Errors
    /// When the JSON isn't an instance of the definition's type.
    pub fn decode(&self, json: &[u8]) -> Decoded<Instance> {
        let value = (self.decode)(json)?;
        Ok(Instance {
            value,
            definition: *self,
        })
    }
}

impl std::fmt::Debug for Definition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Definition")
            .field("name", &self.name)
            .field("pointer", &self.pointer)
            .finish_non_exhaustive()
    }
}

/// Returns the name of the definition at a JSON Pointer: `Tool` for `#/$defs/Tool`.
#[must_use]
pub fn definition_name(pointer: &str) -> &str {
    pointer.rsplit('/').next().unwrap_or(pointer)
}

/// A value of a definition whose type is known only at run time.
pub struct Instance {
    value: Box<dyn ErasedValue>,
    definition: Definition,
}

impl Instance {
    /// Encodes the value as JSON.
    ///
    /// # Errors
    /// When the value can't be encoded.
    pub fn to_json(&self) -> Result<String, EncodeError> {
        self.value.to_json()
    }

    /// Validates the value by its definition.
    ///
    /// # Errors
    /// When the value is invalid. The error lists every violation.
    pub fn validate(&self) -> Result<(), Invalid> {
        self.value.validate(self.definition.pointer, self.definition.schema)
    }
}

impl std::fmt::Debug for Instance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Instance")
            .field("definition", &self.definition.name)
            .finish_non_exhaustive()
    }
}

trait ErasedValue {
    fn to_json(&self) -> Result<String, EncodeError>;
    fn validate(&self, pointer: &str, schema: &Schema) -> Result<(), Invalid>;
}

impl<T: Encode> ErasedValue for T {
    fn to_json(&self) -> Result<String, EncodeError> {
        to_string(self)
    }

    fn validate(&self, pointer: &str, schema: &Schema) -> Result<(), Invalid> {
        validate_at(self, pointer, schema)
    }
}
