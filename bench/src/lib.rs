//! Decoding and encoding of MCP messages, side by side with peers, and what translating them adds to decoding.
//!
//! Each [`Library`] is a way to hold the cases of `mcp-bench-cases`. [`Hop`] does the same for steps between revisions.

pub mod handwritten;
mod hops;
mod libraries;

pub use hops::{Hop, Way};
pub use libraries::{Library, rows, subject};
pub use mcp_bench_cases::{Case, Failure, Subject, programs, table, turns};
