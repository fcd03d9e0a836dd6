//! One library at one case: what is measured.

use std::hint::black_box;

use serde::Serialize;

/// Why there is nothing to measure.
pub type Failure = Box<dyn std::error::Error>;

/// A JSON text and what it decodes to, the types hidden so that every program can go through a list of them.
pub trait Subject {
    /// Decodes the text and drops the value.
    fn decode(&self);

    /// Encodes the value.
    ///
    /// # Errors
    /// Those of its `Serialize`.
    fn encode(&self) -> Result<Vec<u8>, Failure>;
}

/// How the text of a case becomes a value.
type Decode<T> = fn(&[u8]) -> Result<T, Failure>;
/// How the value becomes a text.
type Encode<T> = fn(&T) -> Result<Vec<u8>, Failure>;

struct Pair<T> {
    json: String,
    decode: Decode<T>,
    encode: Encode<T>,
    value: T,
}

/// Decodes `json` once, so that what is measured later is known to succeed.
pub fn pair<T: Serialize + 'static>(json: String, decode: Decode<T>) -> Result<Box<dyn Subject>, Failure> {
    pair_written_by(|value| Ok(serde_json::to_vec(value)?), json, decode)
}

/// The same, encoded by another library.
pub fn pair_written_by<T: 'static>(
    encode: Encode<T>,
    json: String,
    decode: Decode<T>,
) -> Result<Box<dyn Subject>, Failure> {
    let value = decode(json.as_bytes())?;
    Ok(Box::new(Pair {
        json,
        decode,
        encode,
        value,
    }))
}

impl<T> Subject for Pair<T> {
    fn decode(&self) {
        drop(black_box((self.decode)(black_box(self.json.as_bytes()))));
    }

    fn encode(&self) -> Result<Vec<u8>, Failure> {
        (self.encode)(black_box(&self.value))
    }
}
