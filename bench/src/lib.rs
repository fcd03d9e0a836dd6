//! Decoding and encoding of MCP messages, compared with other libraries, and the time that translating adds to
//! decoding.
//!
//! A [`Library`] represents the cases of `mcp-bench-cases` in its types. A [`Hop`] translates a case between revisions.

pub mod handwritten;
mod hops;
mod libraries;

pub use hops::{Hop, Way};
pub use libraries::{Library, rows, subject};
pub use mcp_bench_cases::{Case, Failure, Subject, programs, table, turns};
