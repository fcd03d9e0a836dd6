//! Conversions between types and JSON that a revision leaves open.

use mcp_wire::{Decode, Encode, Map, OpenJson, Validate, from_str};

use crate::loss::AUTOMATIC;
use crate::unrepresentable::Unrepresentable;

/// Encodes a value for a target that leaves it open.
///
/// # Errors
/// When the value has a number that JSON can't represent.
pub fn open<S: Encode>(value: &S) -> Result<OpenJson, Unrepresentable> {
    OpenJson::from_encode(value).map_err(|error| Unrepresentable::by_rule(&error, AUTOMATIC))
}

/// Decodes a value of the target from JSON that the source leaves open.
///
/// # Errors
/// When the JSON isn't a `T`.
pub fn close<T: Decode>(json: &OpenJson) -> Result<T, Unrepresentable> {
    from_str(json.text()).map_err(|error| Unrepresentable::by_rule(&error.reason(), AUTOMATIC).at(&error.path()))
}

/// Decodes and validates a value of the target from JSON that the source leaves open.
///
/// # Errors
/// When the JSON isn't a `T`, or is invalid.
pub fn close_valid<T: Decode + Validate>(json: &OpenJson) -> Result<T, Unrepresentable> {
    let value: T = close(json)?;
    match value.validate() {
        Ok(()) => Ok(value),
        Err(invalid) => Err(Unrepresentable::by_rule(&invalid, AUTOMATIC)),
    }
}

/// Decodes and validates a map of values of the target from JSON that the source leaves open.
///
/// # Errors
/// When an entry isn't a `T`, or is invalid.
pub fn close_entries<T: Decode + Validate>(json: &OpenJson) -> Result<Map<T>, Unrepresentable> {
    let entries: Map<OpenJson> = close(json)?;
    let close_entry = |(key, value): (String, OpenJson)| match close_valid(&value) {
        Ok(value) => Ok((key, value)),
        Err(refused) => Err(refused.within_member(&key)),
    };
    entries.into_iter().map(close_entry).collect()
}
