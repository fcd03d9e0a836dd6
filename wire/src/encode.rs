//! Encoding a value as JSON text.
//!
//! `serde`'s traits write the same values, in any format. This module only writes JSON: it is faster, and takes a
//! fraction of the code, because there is only one writer.

use std::fmt::{self, Write};

use serde_json::Value;

use crate::id::RequestId;
use crate::known::KnownJson;
use crate::object::ObjectWriter;
use crate::text::plain_prefix;

/// A type that can be written as JSON.
///
/// The generated types implement it. Another type does so with the functions of [`JsonWriter`]:
///
/// ```
/// use mcp_wire::{Encode, JsonWriter};
///
/// struct Version(i64, i64);
///
/// impl Encode for Version {
///     fn encode(&self, json: &mut JsonWriter) {
///         json.array(&[self.0, self.1]);
///     }
/// }
///
/// assert_eq!(mcp_wire::to_string(&Version(1, 2))?, "[1,2]");
/// # Ok::<(), mcp_wire::EncodeError>(())
/// ```
pub trait Encode {
    /// Writes the value.
    fn encode(&self, json: &mut JsonWriter);
}

/// The initial capacity of texts. Most messages aren't longer, so their text needn't grow.
pub(crate) const SHORT: usize = 256;

/// Encodes a value as a JSON text.
///
/// # Errors
/// When a number in the value is infinite or not a number, which JSON can't represent.
///
/// ```
/// use mcp_wire::{Number, RequestId};
///
/// assert_eq!(mcp_wire::to_string(&RequestId::from("a\n"))?, r#""a\n""#);
/// assert!(mcp_wire::to_string(&Number::from(f64::NAN)).is_err());
/// # Ok::<(), mcp_wire::EncodeError>(())
/// ```
pub fn to_string<T: Encode + ?Sized>(value: &T) -> Result<String, EncodeError> {
    text_of(&value)
}

impl KnownJson {
    /// Encodes a value.
    ///
    /// # Errors
    /// When a number in the value is infinite or not a number, which JSON can't represent.
    pub fn of<T: Encode + ?Sized>(value: &T) -> Result<Self, EncodeError> {
        append(Self::with_capacity(SHORT), &value).map_err(|(_, error)| error)
    }

    /// Encodes a value after a text, whose values aren't known.
    ///
    /// # Errors
    /// As for [`Self::of`]. The unchanged text is returned with the error.
    pub fn after<T: Encode + ?Sized>(text: String, value: &T) -> Result<Self, (String, EncodeError)> {
        append(Self::known_from(text), &value)
    }

    /// Appends a string.
    pub fn push_string(&mut self, text: &str) {
        if plain_prefix(text.as_bytes()) == text.len() {
            self.push("\"");
            self.push(text);
            self.push("\"");
            return;
        }
        let mut writer = JsonWriter::new(std::mem::take(self));
        writer.string(text);
        *self = writer.json;
    }
}

/// Encodes a value. Not generic, so that it is compiled only once.
fn text_of(value: &dyn Encode) -> Result<String, EncodeError> {
    let text = String::with_capacity(SHORT);
    let json = append(text.into(), value).map_err(|(_, error)| error)?;
    Ok(json.into_text())
}

/// Encodes a tree. This doesn't fail, because JSON can represent each number in it.
pub(crate) fn text_of_tree(tree: &Value) -> String {
    let mut writer = JsonWriter::new(String::with_capacity(SHORT).into());
    tree.encode(&mut writer);
    writer.json.into_text()
}

/// Appends a value to a text. The unchanged text is returned with an error. Not generic either.
fn append(json: KnownJson, value: &dyn Encode) -> Result<KnownJson, (String, EncodeError)> {
    let length = json.text().len();
    let mut writer = JsonWriter::new(json);
    value.encode(&mut writer);
    match writer.error {
        None => Ok(writer.json),
        Some(error) => {
            let mut text = writer.json.into_text();
            text.truncate(length);
            Err((text, error))
        }
    }
}

/// Appends a string to a JSON text.
pub fn push_string(json: &mut String, text: &str) {
    let mut writer = JsonWriter::new(KnownJson::from(std::mem::take(json)));
    writer.string(text);
    *json = writer.json.into_text();
}

/// Appends a value to a JSON text.
///
/// # Errors
/// As for [`to_string`]. The text is unchanged then.
pub fn push_value<T: Encode + ?Sized>(json: &mut String, value: &T) -> Result<(), EncodeError> {
    let (text, result) = match append(std::mem::take(json).into(), &value) {
        Ok(appended) => (appended.into_text(), Ok(())),
        Err((unchanged, error)) => (unchanged, Err(error)),
    };
    *json = text;
    result
}

/// Encodes a value as the bytes of a JSON text.
///
/// # Errors
/// As for [`to_string`].
pub fn to_vec<T: Encode + ?Sized>(value: &T) -> Result<Vec<u8>, EncodeError> {
    to_string(value).map(String::into_bytes)
}

/// The error of a number that JSON can't represent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EncodeError {
    number: f64,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JSON has no {}", self.number)
    }
}

impl std::error::Error for EncodeError {}

/// The length of a string from which on capacity is reserved for the text after it.
const LONG: usize = 4096;

/// The number of bytes to reserve after a long string: for the quotes, the ends of the containers around it, and the
/// server's name and version in a result.
const REST: usize = 512;

/// A JSON text that is being written.
#[derive(Debug)]
pub struct JsonWriter {
    pub(crate) json: KnownJson,
    /// The first error. The text written after it is discarded.
    error: Option<EncodeError>,
}

impl JsonWriter {
    /// Continues a text.
    pub(crate) fn new(json: KnownJson) -> Self {
        Self { json, error: None }
    }

    /// Writes a value.
    // `T::encode` is inlined only here, so that a program has it once.
    #[inline(never)]
    pub fn value<T: Encode + ?Sized>(&mut self, value: &T) {
        value.encode(self);
    }

    /// Writes a piece of JSON as it is.
    pub(crate) fn raw(&mut self, json: &str) {
        self.json.push(json);
    }

    /// Writes a value that is already JSON.
    pub(crate) fn known(&mut self, json: &str) {
        self.json.push_value(json);
    }

    /// Writes a string.
    pub fn string(&mut self, mut text: &str) {
        let start = self.json.text().len();
        let mut is_plain = true;
        if text.len() >= LONG {
            // Reserves capacity for the text after it too, so that this doesn't move the string again.
            self.json.text_mut().reserve(text.len() + REST);
        }
        self.raw("\"");
        loop {
            let (plain, rest) = text.split_at(plain_prefix(text.as_bytes()));
            self.raw(plain);
            let mut rest = rest.chars();
            let Some(special) = rest.next() else { break };
            is_plain = false;
            self.escape(special);
            text = rest.as_str();
        }
        self.raw("\"");
        self.json.mark(start, || is_plain);
    }

    /// Writes the name of a member, and the colon.
    pub(crate) fn name(&mut self, name: &str) {
        if plain_prefix(name.as_bytes()) == name.len() {
            self.raw("\"");
            self.raw(name);
            self.raw("\":");
            return;
        }
        self.string(name);
        self.raw(":");
    }

    fn escape(&mut self, special: char) {
        let letter = match special {
            '"' | '\\' => special,
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '\u{8}' => 'b',
            '\u{c}' => 'f',
            control => return self.display(format_args!("\\u{:04x}", u32::from(control))),
        };
        let text = self.json.text_mut();
        text.push('\\');
        text.push(letter);
    }

    /// Writes an integer.
    pub fn integer(&mut self, integer: i64) {
        self.raw(itoa::Buffer::new().format(integer));
    }

    /// Writes a floating point number in its shortest form.
    pub(crate) fn float(&mut self, number: f64) {
        match serde_json::Number::from_f64(number) {
            Some(number) => self.display(number),
            None => self.error = self.error.or(Some(EncodeError { number })),
        }
    }

    fn display(&mut self, value: impl fmt::Display) {
        // Writing into a `String` doesn't fail.
        let _ = write!(self.json.text_mut(), "{value}");
    }

    /// Writes an array.
    pub fn array<'t, T: Encode + 't>(&mut self, elements: impl IntoIterator<Item = &'t T>) {
        let begun = self.json.begin();
        let mut separator = '[';
        for element in elements {
            self.json.text_mut().push(separator);
            self.value(element);
            separator = ',';
        }
        if separator == '[' {
            self.raw("[");
        }
        self.raw("]");
        self.json.end(begun);
    }
}

impl Encode for str {
    fn encode(&self, json: &mut JsonWriter) {
        json.string(self);
    }
}

impl Encode for String {
    fn encode(&self, json: &mut JsonWriter) {
        json.string(self);
    }
}

impl Encode for bool {
    fn encode(&self, json: &mut JsonWriter) {
        json.raw(if *self { "true" } else { "false" });
    }
}

impl Encode for i64 {
    fn encode(&self, json: &mut JsonWriter) {
        json.integer(*self);
    }
}

impl Encode for () {
    fn encode(&self, json: &mut JsonWriter) {
        json.raw("null");
    }
}

impl Encode for RequestId {
    fn encode(&self, json: &mut JsonWriter) {
        match self {
            Self::Integer(id) => json.integer(*id),
            Self::String(id) => json.string(id),
        }
    }
}

impl Encode for Value {
    fn encode(&self, json: &mut JsonWriter) {
        match self {
            Self::Null => json.raw("null"),
            Self::Bool(value) => json.value(value),
            Self::Number(number) => json.display(number),
            Self::String(text) => json.string(text),
            Self::Array(elements) => json.array(elements),
            Self::Object(members) => {
                json.object(|object| members.iter().try_for_each(|(name, value)| object.member(name, value)))
            }
        }
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    fn encode(&self, json: &mut JsonWriter) {
        json.value(*self);
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, json: &mut JsonWriter) {
        match self {
            Some(value) => json.value(value),
            None => json.raw("null"),
        }
    }
}

impl<T: Encode> Encode for Box<T> {
    fn encode(&self, json: &mut JsonWriter) {
        json.value(&**self);
    }
}

impl<T: Encode> Encode for [T] {
    fn encode(&self, json: &mut JsonWriter) {
        json.array(self);
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, json: &mut JsonWriter) {
        json.array(self);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{Map, Number, RawJson};

    proptest! {
        #[test]
        fn strings_are_written_as_serde_json_writes_them(pieces in prop::collection::vec(prop_oneof![
            "[a-zé😀 /]{0,80}".boxed(),
            any::<char>().prop_map(String::from).boxed(),
            prop::sample::select(vec!["\"", "\\", "\n", "\r", "\t", "\u{8}", "\u{c}", "\u{1}", "\u{1f}", "\u{7f}"])
                .prop_map(str::to_owned)
                .boxed(),
        ], 0..8)) {
            let text = pieces.concat();
            prop_assert_eq!(to_string(&text).unwrap(), serde_json::to_string(&text).unwrap());
        }

        #[test]
        fn numbers_are_written_as_serde_json_writes_them(integer: i64, float: f64) {
            prop_assert_eq!(to_string(&integer).unwrap(), serde_json::to_string(&integer).unwrap());
            let number = Number::from(float);
            prop_assert_eq!(to_string(&number).ok(), serde_json::to_string(&number).ok());
        }
    }

    #[test]
    fn a_tree_is_written_as_serde_json_writes_it() {
        let tree = json!({"a\"": [1, -2.50, 1e300, u64::MAX, "é\n"], "b": {}, "c": [], "d": [null, true, false]});
        assert_eq!(to_string(&tree).unwrap(), tree.to_string());
        assert_eq!(RawJson::from(&tree).text(), tree.to_string());
    }

    #[test]
    fn a_number_in_a_container_that_json_cannot_represent_is_an_error() {
        let map = Map::from([("a", vec![Number::from(1), Number::from(f64::INFINITY)])]);
        assert_eq!(to_string(&map).unwrap_err().to_string(), "JSON has no inf");
    }

    #[test]
    fn a_value_that_cannot_be_encoded_leaves_the_text_unchanged() {
        let mut json = "[".to_owned();
        push_value(&mut json, "a\n").unwrap();
        assert_eq!(json, r#"["a\n""#);
        assert!(push_value(&mut json, &[Number::from(1), Number::from(f64::NAN)][..]).is_err());
        assert_eq!(json, r#"["a\n""#);
    }

    #[test]
    fn containers_are_written_without_spaces() {
        let open: RawJson = crate::from_str("[ 1.0 ]").unwrap();
        let map = Map::from([("", vec![Some(open), None]), ("\"", Vec::new())]);
        assert_eq!(to_string(&map).unwrap(), r#"{"":[[ 1.0 ],null],"\"":[]}"#);
        assert_eq!(to_string(&Map::<bool>::new()).unwrap(), "{}");
    }
}
