//! Deserialization of values from text: the variables of resource templates, and the arguments of prompts.

use serde::de::value::{BorrowedStrDeserializer, Error};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;
use serde_json::map::Iter;

/// Decodes arguments whose values are text. Members that aren't strings, such as numbers, are parsed from the text.
pub fn from_texts<T: DeserializeOwned>(arguments: &Value) -> Result<T, Error> {
    let members = arguments
        .as_object()
        .ok_or_else(|| Error::custom("the arguments aren't an object"))?;
    T::deserialize(Texts(members))
}

/// Members that are text.
struct Texts<'de>(&'de serde_json::Map<String, Value>);

impl<'de> Deserializer<'de> for Texts<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(Members {
            left: self.0.iter(),
            current: None,
        })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

struct Members<'de> {
    left: Iter<'de>,
    current: Option<(&'de str, &'de str)>,
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.current = self.left.find_map(|(name, value)| Some((&**name, value.as_str()?)));
        let name = self.current.map(|(name, _)| BorrowedStrDeserializer::new(name));
        name.map(|name| seed.deserialize(name)).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (name, text) = self
            .current
            .take()
            .ok_or_else(|| Error::custom("a value has no name"))?;
        let value = seed.deserialize(Text(text));
        value.map_err(|error| Error::custom(format_args!("`{name}`: {error}")))
    }
}

/// A value that is text.
struct Text<'de>(&'de str);

/// The methods for types whose values are parsed.
macro_rules! parsed {
    ($($method:ident: $type:ty => $visit:ident, $expected:literal;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0.parse::<$type>() {
                Ok(value) => visitor.$visit(value),
                Err(_) => Err(Error::invalid_value(Unexpected::Str(self.0), &$expected)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Text<'de> {
    type Error = Error;

    parsed! {
        deserialize_bool: bool => visit_bool, "`true` or `false`";
        deserialize_i8: i8 => visit_i8, "an integer of 8 bits";
        deserialize_i16: i16 => visit_i16, "an integer of 16 bits";
        deserialize_i32: i32 => visit_i32, "an integer of 32 bits";
        deserialize_i64: i64 => visit_i64, "an integer of 64 bits";
        deserialize_i128: i128 => visit_i128, "an integer of 128 bits";
        deserialize_u8: u8 => visit_u8, "a natural number of 8 bits";
        deserialize_u16: u16 => visit_u16, "a natural number of 16 bits";
        deserialize_u32: u32 => visit_u32, "a natural number of 32 bits";
        deserialize_u64: u64 => visit_u64, "a natural number of 64 bits";
        deserialize_u128: u128 => visit_u128, "a natural number of 128 bits";
        deserialize_f32: f32 => visit_f32, "a number";
        deserialize_f64: f64 => visit_f64, "a number";
        deserialize_char: char => visit_char, "one character";
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.0))
    }

    forward_to_deserialize_any! {
        str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
