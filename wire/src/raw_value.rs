//! A `RawValue` of a text that is known to be JSON.

use std::iter;

use serde_core::de::value::{Error, MapDeserializer};
use serde_core::de::{Error as _, Visitor};
use serde_core::{Deserialize, Deserializer, forward_to_deserialize_any};
use serde_json::value::RawValue;

/// The `RawValue` of a text that is known to be JSON, without white space around it.
///
/// The constructors of serde_json read the text again. But a `RawValue` can be deserialized from any deserializer that answers as that
/// of serde_json does: with a map from the name that it is asked for to the text.
pub(crate) fn raw_value(text: &str) -> Box<RawValue> {
    let known = Box::<RawValue>::deserialize(KnownJson(text)).ok();
    // Another version of serde_json may expect another answer.
    let read = || RawValue::from_string(text.to_owned()).ok();
    known.or_else(read).unwrap_or_else(|| RawValue::NULL.to_owned())
}

struct KnownJson<'t>(&'t str);

impl<'de> Deserializer<'de> for KnownJson<'_> {
    type Error = Error;

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(MapDeserializer::new(iter::once((name, self.0))))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("only a `RawValue` can be made of this"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serde_json_takes_the_text_without_reading_it() {
        // This isn't JSON, which nobody notices.
        let raw = Box::<RawValue>::deserialize(KnownJson("{ no")).unwrap();
        assert_eq!(raw.get(), "{ no");
    }
}
