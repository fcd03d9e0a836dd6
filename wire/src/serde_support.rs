//! `serde::Deserialize` for types that implement [`Decode`].
//!
//! The text of the value is taken from serde_json, so that numbers stay exact. The value of any other deserializer,
//! such as a YAML reader or a `#[serde(flatten)]` buffer, is written as JSON first.

use std::cell::RefCell;
use std::fmt;

use serde_core::de::{self, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::decode::{Decode, from_str};
use crate::id::RequestId;
use crate::number::Number;

/// Implements `Deserialize` for types that implement [`Decode`](crate::Decode).
#[macro_export]
macro_rules! deserialize_by_decoding {
    ($($type:ty),* $(,)?) => {$(
        impl<'de> $crate::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                $crate::serde_support::deserialize(deserializer)
            }
        }
    )*};
}

/// Implements [`Encode`](crate::Encode), `Serialize` and `Deserialize` for types that implement
/// [`Object`](crate::Object) and [`Decode`](crate::Decode).
#[macro_export]
macro_rules! serde_object {
    ($($type:ty),* $(,)?) => {$(
        impl $crate::serde::Serialize for $type {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                $crate::serialize_object(self, serializer)
            }
        }

        impl $crate::Encode for $type {
            #[inline]
            fn encode(&self, json: &mut $crate::JsonWriter) {
                $crate::encode_object(self, json);
            }
        }

        $crate::deserialize_by_decoding!($type);
    )*};
}

crate::deserialize_by_decoding!(Number, RequestId);

/// Decodes the value of a deserializer.
///
/// # Errors
/// When the value isn't a `T`. The message contains the path.
pub fn deserialize<'de, T: Decode, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let transcoded = RefCell::new(None);
    let request = RawTextDeserializer {
        deserializer,
        transcoded: &transcoded,
    };
    // serde_json returns the text for a `RawValue`. Other deserializers pass themselves to the visitor, which returns
    // an error and leaves the text in `transcoded`.
    let raw = <Box<RawValue> as de::Deserialize>::deserialize(request);
    let text: Box<str> = match transcoded.into_inner() {
        Some(text) => text,
        None => raw?.into(),
    };
    from_str(&text).map_err(de::Error::custom)
}

struct RawTextDeserializer<'t, D> {
    deserializer: D,
    transcoded: &'t RefCell<Option<Box<str>>>,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for RawTextDeserializer<'_, D> {
    type Error = D::Error;

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        let visitor = RawTextVisitor {
            visitor,
            transcoded: self.transcoded,
        };
        self.deserializer.deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.deserializer.deserialize_any(visitor)
    }

    serde_core::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

struct RawTextVisitor<'t, V> {
    visitor: V,
    transcoded: &'t RefCell<Option<Box<str>>>,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for RawTextVisitor<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, text: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(text)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, other: D) -> Result<V::Value, D::Error> {
        let value = <serde_json::Value as de::Deserialize>::deserialize(other)?;
        self.transcoded.replace(Some(value.to_string().into()));
        Err(de::Error::custom("the value was written as JSON"))
    }
}
