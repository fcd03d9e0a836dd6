//! Input that a peer sends by mistake or with hostile intent, decoded as types like the generated ones.

mod envelope;
mod members;
mod memory;
mod nesting;
mod shapes;
mod text;

use std::fmt::Debug;

use mcp_wire::{Decode, DecodeError, from_str};
use serde::Serialize;

/// Returns the error of decoding `json` as `T`.
fn refusal<T: Decode + Debug>(json: &str) -> DecodeError {
    match from_str::<T>(json) {
        Ok(value) => panic!("{json} was decoded as {value:?}"),
        Err(error) => error,
    }
}

/// Decodes `json` as `T`, and writes it again.
fn again<T: Decode + Serialize>(json: &str) -> String {
    let value: T = from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
    serde_json::to_string(&value).unwrap()
}
