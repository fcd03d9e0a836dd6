//! Input that a peer sends by mistake or with hostile intent, decoded as types like the generated ones.

#[path = "hostile/envelope.rs"]
mod envelope;
#[path = "hostile/members.rs"]
mod members;
#[path = "hostile/memory.rs"]
mod memory;
#[path = "hostile/nesting.rs"]
mod nesting;
#[path = "hostile/shapes.rs"]
mod shapes;
#[path = "hostile/text.rs"]
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
