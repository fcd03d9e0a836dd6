//! Decoding and encoding of MCP messages, side by side with peers.
//!
//! Each [`Case`] is one JSON text, each [`Library`] one way to hold it, and [`subject`] brings the two together. The
//! programs only differ in what they count: time, allocations or instructions.

pub mod handwritten;
pub mod inputs;
mod libraries;
mod subject;
pub mod table;

pub use inputs::Case;
pub use libraries::{Library, subject};
pub use subject::{Failure, Subject};
