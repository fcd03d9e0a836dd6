//! The value that a member has in every object of its type.

use serde_core::{Serialize, Serializer};

use crate::encode::{Encode, JsonWriter};
use crate::reader::Reader;

/// The value that a member has in every object of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constant {
    /// A string without characters that JSON escapes.
    String(&'static str),
    /// An integer.
    Integer(i64),
    /// A boolean.
    Boolean(bool),
}

impl Constant {
    pub(super) fn is(self, json: &str) -> bool {
        match self {
            Self::String(text) => {
                Reader::new(json).string_is(text) || Reader::new(json).string().is_ok_and(|json| json == text)
            }
            Self::Integer(integer) => Reader::new(json).integer() == Ok(integer),
            Self::Boolean(boolean) => json == if boolean { "true" } else { "false" },
        }
    }
}

impl From<&'static str> for Constant {
    fn from(text: &'static str) -> Self {
        Self::String(text)
    }
}

impl From<i64> for Constant {
    fn from(integer: i64) -> Self {
        Self::Integer(integer)
    }
}

impl From<bool> for Constant {
    fn from(boolean: bool) -> Self {
        Self::Boolean(boolean)
    }
}

impl Serialize for Constant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::String(text) => serializer.serialize_str(text),
            Self::Integer(integer) => serializer.serialize_i64(*integer),
            Self::Boolean(boolean) => serializer.serialize_bool(*boolean),
        }
    }
}

impl Encode for Constant {
    fn encode(&self, json: &mut JsonWriter) {
        match self {
            Self::String(text) => json.string(text),
            Self::Integer(integer) => json.integer(*integer),
            Self::Boolean(boolean) => boolean.encode(json),
        }
    }
}
