//! What `mcp-rev` prints and returns.

mod bridge;
mod check;
mod client;
mod commands;
mod servers;
mod translate;
