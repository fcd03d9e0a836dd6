//! A revision's schema, embedded in the crate of its types.

use std::fmt;
use std::sync::{Arc, OnceLock};

use mcp_json_schema::{SchemaError, Validator};

use crate::parts::Parts;

/// A revision's schema, embedded in the crate of its types and compiled when a value is first validated.
pub struct Schema {
    revision: &'static str,
    text: &'static str,
    validator: OnceLock<Result<Arc<Validator>, SchemaError>>,
    parts: Parts,
}

impl Schema {
    /// Creates the schema of `revision` from its JSON text.
    #[must_use]
    pub const fn new(revision: &'static str, text: &'static str) -> Self {
        let validator = OnceLock::new();
        Self {
            revision,
            text,
            validator,
            parts: Parts::new(),
        }
    }

    /// Returns the name of the revision.
    #[must_use]
    pub fn revision(&self) -> &'static str {
        self.revision
    }

    /// Returns the JSON text of the schema.
    #[must_use]
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// Returns the validator of the schema, which the first call compiles.
    ///
    /// # Errors
    /// When the text isn't JSON, or isn't a schema that [`Validator`] supports. The schemas of generated crates are.
    pub fn validator(&self) -> Result<&Arc<Validator>, &SchemaError> {
        let compile = || Validator::parse(self.text).map(Arc::new);
        self.validator.get_or_init(compile).as_ref()
    }

    /// Returns a validator with the subschema at a pointer. The first few pointers get a validator of only the
    /// definitions that they need, so that a program needn't compile a whole schema at its start to check one value.
    pub(crate) fn validator_at(&self, pointer: &str) -> Result<Arc<Validator>, &SchemaError> {
        let is_whole = self.validator.get().is_some();
        let part = (!is_whole).then(|| self.parts.validator(self.text, pointer)).flatten();
        part.map_or_else(|| self.validator().cloned(), Ok)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

/// Connects a type to its definition: implements [`Validate`](crate::Validate), and `schemars::JsonSchema` with the
/// feature `schemars`.
#[doc(hidden)]
#[macro_export]
macro_rules! defined_at {
    ($type:ident, $schema:ident, $pointer:literal) => {
        impl $crate::Validate for $type {
            const POINTER: &'static str = $pointer;

            #[inline]
            fn schema() -> &'static $crate::Schema {
                &$schema
            }
        }

        $crate::json_schema_at!($type, $schema, $pointer);
    };
}

#[cfg(feature = "schemars")]
#[doc(hidden)]
#[macro_export]
macro_rules! json_schema_at {
    ($type:ident, $schema:ident, $pointer:literal) => {
        impl $crate::schemars::JsonSchema for $type {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                $crate::schemars_support::name($pointer)
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                $crate::schemars_support::id($schema.revision(), $pointer)
            }

            fn json_schema(generator: &mut $crate::schemars::SchemaGenerator) -> $crate::schemars::Schema {
                $crate::schemars_support::schema(generator, $schema.revision(), $schema.text(), $pointer)
            }
        }
    };
}

#[cfg(not(feature = "schemars"))]
#[doc(hidden)]
#[macro_export]
macro_rules! json_schema_at {
    ($type:ident, $schema:ident, $pointer:literal) => {};
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate_at;

    #[test]
    fn every_value_is_invalid_if_the_schema_cannot_be_compiled() {
        for text in ["{", r#"{"type": "text"}"#] {
            let schema = Schema::new("2099-01-01", text);
            assert!(schema.validator().is_err());
            let invalid = validate_at(&1, "#", &schema).unwrap_err();
            assert_eq!(invalid.violations[0].expected, "a schema to validate by");
        }
    }
}
