//! A revision's definitions by name, for types that are known at run time only.

use serde_core::Serialize;

use crate::decode::{Decode, from_slice};
use crate::error::Decoded;
use crate::schema::Schema;
use crate::validate::{Invalid, validate_at};

/// A definition of a revision's schema.
#[derive(Clone, Copy)]
pub struct Definition {
    /// The schema's name for it.
    pub name: &'static str,
    /// Where it stands in the schema.
    pub pointer: &'static str,
    schema: &'static Schema,
    decode: fn(&[u8]) -> Decoded<Box<dyn ErasedSerialize>>,
}

impl Definition {
    /// The definition `name` at `pointer`, whose instances are values of `T`.
    #[must_use]
    pub const fn new<T: Decode + Serialize + 'static>(
        name: &'static str,
        pointer: &'static str,
        schema: &'static Schema,
    ) -> Self {
        Self {
            name,
            pointer,
            schema,
            decode: |json| from_slice::<T>(json).map(|value| Box::new(value) as Box<dyn ErasedSerialize>),
        }
    }

    /// Decodes an instance.
    ///
    /// # Errors
    /// When the JSON can't be held by the definition's type.
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

/// The name of the definition at a JSON pointer: the last part of `#/$defs/Tool`.
#[must_use]
pub fn definition_name(pointer: &str) -> &str {
    pointer.rsplit('/').next().unwrap_or(pointer)
}

/// A value of a definition whose type is known at run time only.
pub struct Instance {
    value: Box<dyn ErasedSerialize>,
    definition: Definition,
}

impl Instance {
    /// The value as JSON.
    ///
    /// # Errors
    /// Those of `Serialize`.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        self.value.to_json()
    }

    /// Reports every departure from the schema.
    ///
    /// # Errors
    /// When there is any.
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

trait ErasedSerialize {
    fn to_json(&self) -> Result<String, serde_json::Error>;
    fn validate(&self, pointer: &str, schema: &Schema) -> Result<(), Invalid>;
}

impl<T: Serialize> ErasedSerialize for T {
    fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    fn validate(&self, pointer: &str, schema: &Schema) -> Result<(), Invalid> {
        validate_at(self, pointer, schema)
    }
}
