//! Between types and JSON that a revision leaves open.

use mcp_wire::serde::Serialize;
use mcp_wire::{Decode, Map, OpenJson, Validate, from_str};

use crate::loss::AUTOMATIC;
use crate::unrepresentable::Unrepresentable;

/// A value as JSON, for a target that leaves it open.
///
/// # Errors
/// When it can't be written as JSON.
pub fn open<S: Serialize>(value: &S) -> Result<OpenJson, Unrepresentable> {
    OpenJson::from_serialize(value).map_err(|error| Unrepresentable::by_rule(&error, AUTOMATIC))
}

/// A value of the target, from JSON that the source leaves open.
///
/// # Errors
/// When the type can't hold it.
pub fn close<T: Decode>(json: &OpenJson) -> Result<T, Unrepresentable> {
    from_str(json.text()).map_err(|error| Unrepresentable::by_rule(&error.reason(), AUTOMATIC).at(&error.path()))
}

/// A valid value of the target, from JSON that the source leaves open.
///
/// # Errors
/// When the type can't hold it, or its schema refuses it.
pub fn close_valid<T: Decode + Validate>(json: &OpenJson) -> Result<T, Unrepresentable> {
    let value: T = close(json)?;
    match value.validate() {
        Ok(()) => Ok(value),
        Err(invalid) => Err(Unrepresentable::by_rule(&invalid, AUTOMATIC)),
    }
}

/// A map of valid values of the target, from JSON that the source leaves open.
///
/// # Errors
/// When the type can't hold an entry, or its schema refuses it.
pub fn close_entries<T: Decode + Validate>(json: &OpenJson) -> Result<Map<T>, Unrepresentable> {
    let entries: Map<OpenJson> = close(json)?;
    let close_entry = |(key, value): (String, OpenJson)| match close_valid(&value) {
        Ok(value) => Ok((key, value)),
        Err(refused) => Err(refused.within_member(&key)),
    };
    entries.into_iter().map(close_entry).collect()
}
