//! A revision's schema, embedded in the crate of its types.

use std::fmt;
use std::sync::OnceLock;

use crate::validator::Validator;

/// A revision's schema as a crate embeds it, compiled when a value is first validated.
pub struct Schema {
    revision: &'static str,
    text: &'static str,
    validator: OnceLock<Validator>,
}

impl Schema {
    /// The schema of `revision`, as JSON.
    #[must_use]
    pub const fn new(revision: &'static str, text: &'static str) -> Self {
        let validator = OnceLock::new();
        Self {
            revision,
            text,
            validator,
        }
    }

    /// The name of the revision.
    #[must_use]
    pub fn revision(&self) -> &'static str {
        self.revision
    }

    /// The schema as JSON.
    #[must_use]
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// The validator of the schema, compiled by the first call.
    ///
    /// # Panics
    /// When the text is no schema that values can be validated by. A crate is generated only from one that is.
    #[must_use]
    pub fn validator(&self) -> &Validator {
        self.validator.get_or_init(|| {
            let schema = serde_json::from_str(self.text).expect("an embedded schema is JSON");
            Validator::new(&schema).expect("the generator has compiled the embedded schema before")
        })
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

/// Ties a type to its definition: implements [`Validate`](crate::Validate), and `schemars::JsonSchema` with the feature
/// `schemars`.
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
                $crate::json_schema::import::name($pointer)
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                $crate::json_schema::import::id($schema.revision(), $pointer)
            }

            fn json_schema(generator: &mut $crate::schemars::SchemaGenerator) -> $crate::schemars::Schema {
                $crate::json_schema::import::schema(generator, $schema.revision(), $schema.text(), $pointer)
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
