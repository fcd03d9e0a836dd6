//! What `mcp-rev` prints and returns.

mod authorization;
mod bridge;
mod check;
mod client;
mod commands;
mod gateway;
mod replay;
mod requests;
mod schemas;
mod servers;
mod translate;
