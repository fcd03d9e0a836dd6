//! The messages that every library decodes and encodes, and how that is measured.
//!
//! Each [`Case`] is a JSON text, and each [`Subject`] a representation of it in a library. The programs differ only in
//! what they count: time, allocations or instructions.

pub mod inputs;
pub mod programs;
mod subject;
pub mod table;
pub mod turns;

pub use inputs::Case;
pub use subject::{Failure, Subject, pair, pair_written_by};
