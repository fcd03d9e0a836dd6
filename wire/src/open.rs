//! JSON that the schema leaves open, kept as text.

use std::fmt;
use std::sync::Arc;

use mcp_json_schema::JsonType;
use serde_core::de::{DeserializeOwned, Error as _};
use serde_core::{Serialize, Serializer, ser};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::borrowed::BorrowedJson;
use crate::decode::Decode;
use crate::encode::{self, Encode, EncodeError, JsonWriter};
use crate::error::Decoded;
use crate::plain::plain_value;
use crate::reader::{ALLOCATION, Reader};
use crate::serialize::to_json;
use crate::tree::tree;

/// Any JSON value, verbatim: the order of keys and the text of numbers survive, and nothing is parsed in advance.
/// Clones share the text.
///
/// A member that occurs twice in one object is part of the text, and is passed on with it. Reading the text detects it:
/// [`parse`](Self::parse), [`decode_as`](Self::decode_as) and [`validate`](crate::Validate) return an error, and
/// [`get`](Self::get) returns `None`.
///
/// ```
/// use mcp_wire::RawJson;
/// use serde_json::json;
///
/// let weather: RawJson = serde_json::from_str(r#"{"city": "Bern", "celsius": 21.50}"#)?;
/// assert_eq!(weather.get("celsius").map(|value| value.text().to_owned()), Some("21.50".to_owned()));
/// assert_eq!(weather.get("city").and_then(|value| value.parse::<String>().ok()), Some("Bern".to_owned()));
/// assert_eq!(weather, RawJson::from(json!({"celsius": 21.5, "city": "Bern"})));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct RawJson(Arc<str>);

impl RawJson {
    /// Encodes `value`.
    ///
    /// # Errors
    /// When the value can't be encoded.
    pub fn from_encode<T: Encode + ?Sized>(value: &T) -> Result<Self, EncodeError> {
        encode::to_string(value).map(|text| Self(text.into()))
    }

    /// Serializes `value`.
    ///
    /// # Errors
    /// When serializing the value fails.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        to_json(value).map(|text| Self(text.into()))
    }

    /// Creates a value from a JSON text. A text that isn't JSON is accepted, but reading it is an error.
    #[doc(hidden)]
    #[must_use]
    pub fn of_json(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// Returns the JSON text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Deserializes the value with serde_json.
    ///
    /// # Errors
    /// When the value isn't a `T`, or an object in it has a member twice.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        Reader::new(self.text())
            .check_distinct()
            .map_err(serde_json::Error::custom)?;
        serde_json::from_str(self.text())
    }

    /// Parses the value as a tree, faster than [`parse`](Self::parse) does.
    ///
    /// # Errors
    /// Those of [`parse`](Self::parse).
    pub fn parse_value(&self) -> Result<Value, serde_json::Error> {
        // On failure, serde_json provides the error.
        tree(self.text()).or_else(|_| self.parse())
    }

    /// Decodes the value. Unlike [`parse`](Self::parse), this keeps numbers exact, and an error has a path.
    ///
    /// # Errors
    /// When the value isn't a `T`.
    pub fn decode_as<T: Decode>(&self) -> Decoded<T> {
        crate::from_str(self.text())
    }

    /// Returns the value as an object, without copying it.
    ///
    /// # Errors
    /// When it isn't an object, or is nested too deep.
    pub fn into_object(self) -> Decoded<RawObject> {
        Reader::new(self.text()).whole(|reader| match reader.json_type()? {
            JsonType::Object => reader.raw().map(drop),
            found => Err(reader.wrong_type("an object", found)),
        })?;
        Ok(RawObject(self))
    }

    /// Returns the member `key`, if this is an object that has it once.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Self> {
        let mut reader = Reader::new(self.text());
        let mut first = reader.open_object().ok()?;
        let mut found = None;
        while let Some(name) = reader.next_key(&mut first).ok()? {
            let value = reader.raw().ok()?;
            if name == key && found.replace(value).is_some() {
                return None;
            }
        }
        found.map(Self::of_json)
    }

    /// Returns the value, borrowed.
    #[must_use]
    pub fn borrowed(&self) -> BorrowedJson<'_> {
        BorrowedJson::of_json(self.text())
    }

    /// Returns the JSON type of the value.
    #[must_use]
    pub fn json_type(&self) -> JsonType {
        self.borrowed().json_type()
    }
}

impl From<&RawValue> for RawJson {
    fn from(raw: &RawValue) -> Self {
        Self(raw.get().into())
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw.get().into())
    }
}

impl From<Value> for RawJson {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<&Value> for RawJson {
    fn from(value: &Value) -> Self {
        Self(encode::text_of_tree(value).into())
    }
}

impl From<serde_json::Map<String, Value>> for RawJson {
    fn from(members: serde_json::Map<String, Value>) -> Self {
        Self::from(Value::Object(members))
    }
}

impl From<RawObject> for RawJson {
    fn from(object: RawObject) -> Self {
        object.0
    }
}

/// Two values are equal if they are the same JSON. The order of keys and white space don't matter.
impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        let same_value = || match (plain_value(self.text()), plain_value(other.text())) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        };
        self.text() == other.text() || same_value()
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Decode for RawJson {
    const HOLDS_NULL: bool = true;

    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let text = reader.raw()?;
        reader.charge(ALLOCATION)?;
        Ok(Self::of_json(text))
    }
}

impl Reader<'_> {
    /// Reads the next value as the variant of a union that the revision doesn't declare.
    ///
    /// A member that occurs twice is an error, because the tag has been read from the object, and validation reads the
    /// rest.
    ///
    /// # Errors
    /// When the value isn't JSON, is nested too deep, or has an object in which a member occurs twice.
    pub fn unknown_variant(&mut self) -> Decoded<RawJson> {
        self.check_distinct()?;
        RawJson::decode(self)
    }
}

impl Encode for RawJson {
    fn encode(&self, json: &mut JsonWriter) {
        json.known(self.text());
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(self.text()).map_err(ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

crate::deserialize_by_decoding!(RawJson);

/// Any JSON object, verbatim. It derefs to [`RawJson`].
///
/// Decoding any other value is an error. Converting a [`Value`] with `From` accepts any value, and
/// `validate` reports one that isn't an object.
///
/// ```
/// use mcp_wire::RawObject;
/// use serde_json::json;
///
/// let schema = RawObject::from(json!({"type": "object"}));
/// assert_eq!(schema.text(), r#"{"type":"object"}"#);
/// ```
#[derive(Clone, PartialEq)]
pub struct RawObject(RawJson);

impl Default for RawObject {
    /// `{}`
    fn default() -> Self {
        Self(Value::Object(serde_json::Map::new()).into())
    }
}

impl std::ops::Deref for RawObject {
    type Target = RawJson;

    fn deref(&self) -> &RawJson {
        &self.0
    }
}

impl From<RawJson> for RawObject {
    fn from(json: RawJson) -> Self {
        Self(json)
    }
}

impl From<Value> for RawObject {
    fn from(value: Value) -> Self {
        Self(value.into())
    }
}

impl From<serde_json::Map<String, Value>> for RawObject {
    fn from(members: serde_json::Map<String, Value>) -> Self {
        Self(Value::Object(members).into())
    }
}

impl fmt::Debug for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Decode for RawObject {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        match reader.json_type()? {
            JsonType::Object => RawJson::decode(reader).map(Self),
            found => Err(reader.wrong_type("an object", found)),
        }
    }
}

impl Encode for RawObject {
    fn encode(&self, json: &mut JsonWriter) {
        self.0.encode(json);
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

crate::deserialize_by_decoding!(RawObject);
