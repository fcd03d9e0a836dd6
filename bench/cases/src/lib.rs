//! The messages that every library decodes and encodes, and how that is measured.
//!
//! Each [`Case`] is one JSON text, each [`Subject`] a way to hold it. The programs only differ in what they count: time,
//! allocations or instructions.

pub mod inputs;
pub mod programs;
mod subject;
pub mod table;
pub mod turns;

pub use inputs::Case;
pub use subject::{Failure, Subject, pair, pair_written_by};
