//! Writing values that implement serde's `Serialize`. The text is that of serde_json, which takes several times as long
//! for strings, because it looks at each byte.

use serde_core::ser::{self, Error as _, Serialize, Serializer};
use serde_json::Error;

use crate::encode::{JsonWriter, SHORT};

/// Serializes a value as a JSON text.
pub(crate) fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    let mut json = JsonWriter::new(String::with_capacity(SHORT).into());
    value.serialize(JsonSerializer::new(&mut json))?;
    Ok(json.json.into_text())
}

/// Writes one value.
struct JsonSerializer<'w> {
    json: &'w mut JsonWriter,
    /// The struct whose only field the value is, if serde_json may treat it specially.
    special: Option<Special<'w>>,
}

/// A struct with one field, such as a number of arbitrary precision, that serde_json has to write if the field is a
/// string.
struct Special<'w> {
    name: &'static str,
    field: &'static str,
    /// The JSON that serde_json writes for the struct.
    json: &'w mut Option<String>,
}

impl<'w> JsonSerializer<'w> {
    fn new(json: &'w mut JsonWriter) -> Self {
        Self { json, special: None }
    }

    /// Opens an object for the value of an enum's variant.
    fn open_variant(self, variant: &str) -> &'w mut JsonWriter {
        self.json.raw("{");
        self.json.name(variant);
        self.json
    }
}

/// The functions for integers.
macro_rules! integers {
    ($($function:ident($type:ty))*) => {$(
        fn $function(self, integer: $type) -> Result<(), Error> {
            self.json.raw(itoa::Buffer::new().format(integer));
            Ok(())
        }
    )*};
}

impl<'w> Serializer for JsonSerializer<'w> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Container<'w>;
    type SerializeTuple = Container<'w>;
    type SerializeTupleStruct = Container<'w>;
    type SerializeTupleVariant = Container<'w>;
    type SerializeMap = Container<'w>;
    type SerializeStruct = Container<'w>;
    type SerializeStructVariant = Container<'w>;

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.json.raw(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_f32(self, number: f32) -> Result<(), Error> {
        self.json.raw(&serde_json::to_string(&number)?);
        Ok(())
    }

    fn serialize_f64(self, number: f64) -> Result<(), Error> {
        self.json.raw(&serde_json::to_string(&number)?);
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        match self.special {
            None => self.json.string(text),
            Some(Special { name, field, json }) => {
                *json = Some(serde_json::to_string(&OneField { name, field, text })?)
            }
        }
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Error> {
        self.collect_seq(bytes)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.json.raw("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let json = self.open_variant(variant);
        value.serialize(JsonSerializer::new(json))?;
        json.raw("}");
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Container<'w>, Error> {
        Ok(Container::open(self.json, "[", "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Container<'w>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Container<'w>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Container<'w>, Error> {
        Ok(Container::open(self.open_variant(variant), "[", "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Container<'w>, Error> {
        Ok(Container::open(self.json, "{", "}"))
    }

    fn serialize_struct(self, name: &'static str, fields: usize) -> Result<Container<'w>, Error> {
        // The name of a type doesn't begin with this character, so serde_json may treat the struct specially.
        if name.starts_with('$') && fields == 1 {
            let special = Some(name);
            return Ok(Container {
                special,
                ..Container::open(self.json, "", "")
            });
        }
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Container<'w>, Error> {
        Ok(Container::open(self.open_variant(variant), "{", "}}"))
    }
}

/// An array or an object that is being written.
struct Container<'w> {
    json: &'w mut JsonWriter,
    is_empty: bool,
    end: &'static str,
    /// The name of a struct with one field that serde_json may treat specially.
    special: Option<&'static str>,
}

impl<'w> Container<'w> {
    fn open(json: &'w mut JsonWriter, start: &str, end: &'static str) -> Self {
        json.raw(start);
        Self {
            json,
            is_empty: true,
            end,
            special: None,
        }
    }

    fn separate(&mut self) {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.json.raw(",");
        }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.separate();
        value.serialize(JsonSerializer::new(self.json))
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        if let Some(of) = self.special {
            return self.special_field(of, name, value);
        }
        self.separate();
        self.json.name(name);
        value.serialize(JsonSerializer::new(self.json))
    }

    fn special_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        field: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let start = self.json.json.text().len();
        let mut json = None;
        value.serialize(JsonSerializer {
            json: self.json,
            special: Some(Special {
                name,
                field,
                json: &mut json,
            }),
        })?;
        match json {
            Some(json) => self.json.raw(&json),
            None => {
                // Not a string, so the struct isn't special.
                let opening = format!("{{{}:", to_json(field)?);
                let text = self.json.json.text_mut();
                text.insert_str(start, &opening);
                text.push('}');
            }
        }
        Ok(())
    }

    fn close(self) -> Result<(), Error> {
        self.json.raw(self.end);
        Ok(())
    }
}

/// Implements serde's traits for sequences.
macro_rules! sequences {
    ($($trait:ident::$function:ident)*) => {$(
        impl ser::$trait for Container<'_> {
            type Ok = ();
            type Error = Error;

            fn $function<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.element(value)
            }

            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    )*};
}

sequences! {
    SerializeSeq::serialize_element
    SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field
    SerializeTupleVariant::serialize_field
}

/// Implements serde's traits for structs.
macro_rules! structs {
    ($($trait:ident)*) => {$(
        impl ser::$trait for Container<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
                self.field(name, value)
            }

            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    )*};
}

structs!(SerializeStruct SerializeStructVariant);

impl ser::SerializeMap for Container<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.separate();
        let start = self.json.json.text().len();
        key.serialize(JsonSerializer::new(self.json))?;
        let text = self.json.json.text_mut();
        match text.as_bytes().get(start) {
            Some(b'"') => {}
            // A number or a boolean becomes a string.
            Some(b'-' | b'0'..=b'9' | b't' | b'f') => {
                text.insert(start, '"');
                text.push('"');
            }
            _ => return Err(Error::custom("a key of a map must be a string")),
        }
        text.push(':');
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(JsonSerializer::new(self.json))
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

/// A struct with one field, which is a string.
struct OneField<'t> {
    name: &'static str,
    field: &'static str,
    text: &'t str,
}

impl Serialize for OneField<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use ser::SerializeStruct;

        let mut one = serializer.serialize_struct(self.name, 1)?;
        one.serialize_field(self.field, self.text)?;
        one.end()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;
    use serde_json::json;
    use serde_json::value::RawValue;

    use super::*;
    use crate::RawJson;

    #[derive(Serialize)]
    struct Unit;

    #[derive(Serialize)]
    struct Pair(u8, char);

    #[derive(Serialize)]
    enum Choice {
        Unit,
        Newtype(f32),
        Tuple(i128, bool),
        Struct { a: Option<&'static str>, b: () },
    }

    #[derive(Serialize)]
    struct All {
        unit: Unit,
        pair: Pair,
        choices: Vec<Choice>,
        by_number: BTreeMap<i16, [f64; 3]>,
        by_flag: BTreeMap<bool, String>,
        by_letter: BTreeMap<char, u128>,
        raw: Box<RawValue>,
        open: RawJson,
        tree: serde_json::Value,
        #[serde(flatten)]
        rest: BTreeMap<&'static str, i64>,
    }

    #[test]
    fn values_are_written_as_serde_json_writes_them() {
        let all = All {
            unit: Unit,
            pair: Pair(255, '"'),
            choices: vec![
                Choice::Unit,
                Choice::Newtype(1.1),
                Choice::Tuple(i128::MIN, true),
                Choice::Struct { a: Some("\n"), b: () },
                Choice::Struct { a: None, b: () },
            ],
            by_number: BTreeMap::from([(-1, [1.0, 1e300, f64::NAN]), (2, [-0.0, 0.1, 5e-324])]),
            by_flag: BTreeMap::from([(true, "é\u{1}".repeat(100)), (false, String::new())]),
            by_letter: BTreeMap::from([('\\', u128::MAX)]),
            raw: RawValue::from_string(r#"[ 1.00, {"a" : null} ]"#.to_owned()).unwrap(),
            open: crate::from_str(r#"{"b" : 2.50, "a": "x"}"#).unwrap(),
            tree: json!({"a": [], "b": {}, "c": u64::MAX}),
            rest: BTreeMap::from([("x", 1), ("y", -2)]),
        };
        assert_eq!(to_json(&all).unwrap(), serde_json::to_string(&all).unwrap());
    }

    #[test]
    fn keys_that_are_not_strings_are_an_error() {
        let maps = [BTreeMap::from([(None, 1)]), BTreeMap::from([(Some(vec![1]), 1)])];
        for map in maps {
            assert!(serde_json::to_string(&map).is_err());
            assert_eq!(
                to_json(&map).unwrap_err().to_string(),
                "a key of a map must be a string"
            );
        }
    }

    #[test]
    fn only_structs_that_serde_json_knows_are_special() {
        struct Other(&'static str, u8);

        impl Serialize for Other {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use ser::SerializeStruct;
                let mut other = serializer.serialize_struct("$other", 1)?;
                match self.1 {
                    0 => other.serialize_field("$text", self.0)?,
                    number => other.serialize_field("$number", &number)?,
                }
                other.end()
            }
        }

        assert_eq!(to_json(&Other("\"", 0)).unwrap(), r#"{"$text":"\""}"#);
        assert_eq!(to_json(&[Other("", 7)]).unwrap(), r#"[{"$number":7}]"#);
    }
}
