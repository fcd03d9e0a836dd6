//! The combination of a library and a case, which is measured.

use std::hint::black_box;

use serde::Serialize;

/// The error of the measuring programs.
pub type Failure = Box<dyn std::error::Error>;

/// A JSON text and the value that a library decodes from it. It hides their types, so that programs can iterate over a
/// list of them.
pub trait Subject {
    /// Decodes the text and drops the value.
    fn decode(&self);

    /// Encodes the value.
    ///
    /// # Errors
    /// The errors of the value's encoder.
    fn encode(&self) -> Result<Vec<u8>, Failure>;
}

/// Decodes a value from the text of a case.
type Decode<T> = fn(&[u8]) -> Result<T, Failure>;
/// Encodes the value as text.
type Encode<T> = fn(&T) -> Result<Vec<u8>, Failure>;

struct Pair<T> {
    json: String,
    decode: Decode<T>,
    encode: Encode<T>,
    value: T,
}

/// Makes a subject whose value `serde_json` encodes. Decodes `json` once, so that the measured decoding is known to
/// succeed.
pub fn pair<T: Serialize + 'static>(json: String, decode: Decode<T>) -> Result<Box<dyn Subject>, Failure> {
    pair_written_by(|value| Ok(serde_json::to_vec(value)?), json, decode)
}

/// Like [`pair`], with another encoder.
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
