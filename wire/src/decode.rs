//! Decoding a JSON text into a value.

use mcp_json_schema::JsonType;

use crate::error::Decoded;
use crate::id::RequestId;
use crate::number::Number;
use crate::reader::{ALLOCATION, Reader};

/// A type that can be read from JSON in one pass.
pub trait Decode: Sized {
    /// Whether `null` is one of the type's values. If not, the `null` of an optional member is kept as an undeclared
    /// member.
    const HOLDS_NULL: bool = false;

    /// Reads the next value.
    ///
    /// # Errors
    /// When the type can't represent the value.
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self>;
}

/// Returns the text of bytes that are JSON.
///
/// # Errors
/// When they aren't UTF-8.
pub fn text_of(json: &[u8]) -> Decoded<&str> {
    Reader::from_slice(json).map(|reader| reader.rest())
}

/// Decodes a whole JSON text.
///
/// # Errors
/// When the text isn't UTF-8, isn't JSON, or isn't a `T`. The error has the path to the value.
pub fn from_slice<T: Decode>(json: &[u8]) -> Decoded<T> {
    Reader::from_slice(json)?.whole(Reader::decode)
}

/// Decodes a whole JSON text.
///
/// # Errors
/// When the text isn't JSON, or isn't a `T`. The error has the path to the value.
pub fn from_str<T: Decode>(json: &str) -> Decoded<T> {
    Reader::new(json).whole(Reader::decode)
}

impl Reader<'_> {
    /// Reads the next value as a `T`.
    ///
    /// # Errors
    /// When the value isn't a `T`.
    // `T::decode` is long and is inlined only here, so that a program has it once.
    #[inline(never)]
    pub fn decode<T: Decode>(&mut self) -> Decoded<T> {
        T::decode(self)
    }
}

impl Decode for String {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let text = reader.string()?;
        reader.charge(ALLOCATION)?;
        Ok(text.into_owned())
    }
}

impl Decode for bool {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        reader.boolean()
    }
}

impl Decode for i64 {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        reader.integer()
    }
}

impl Decode for Number {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        reader.number()
    }
}

impl Decode for RequestId {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        reader.request_id()
    }
}

/// The value of a schema that only allows `null`.
pub type Null = ();

impl Decode for () {
    const HOLDS_NULL: bool = true;

    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        reader.null()
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let mut elements = Self::new();
        reader.array(|reader| {
            let element = reader.decode()?;
            reader.push(&mut elements, element)
        })?;
        Ok(elements)
    }
}

/// A value that can be `null`. An absent member is handled by its object.
impl<T: Decode> Decode for Option<T> {
    const HOLDS_NULL: bool = true;

    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        if reader.json_type()? == JsonType::Null {
            reader.null()?;
            return Ok(None);
        }
        reader.decode().map(Some)
    }
}

impl<T: Decode> Decode for Box<T> {
    const HOLDS_NULL: bool = T::HOLDS_NULL;

    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        reader.charge(ALLOCATION + size_of::<T>())?;
        reader.decode().map(Self::new)
    }
}
