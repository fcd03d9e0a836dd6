//! Decoding and encoding of MCP messages, side by side with peers, and what translating them adds to decoding.
//!
//! Each [`Case`] is one JSON text, each [`Library`] one way to hold it, and [`subject`] brings the two together. The
//! programs only differ in what they count: time, allocations or instructions. [`Hop`] does
//! the same for steps between revisions.

pub mod handwritten;
mod hops;
pub mod inputs;
mod libraries;
mod subject;
pub mod table;
pub mod turns;

pub use hops::{Hop, Way};
pub use inputs::Case;
pub use libraries::{Library, subject};
pub use subject::{Failure, Subject};
