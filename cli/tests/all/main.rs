//! What `mcp-rev` prints and returns.

mod authorization;
mod bridge;
mod check;
mod client;
mod commands;
mod replay;
#[path = "../../../codegen/tests/made_up/revision.rs"]
mod revision;
mod schemas;
mod servers;
mod translate;
#[path = "../../../codegen/tests/made_up/variants.rs"]
#[allow(dead_code, reason = "the generator's tests use the others")]
mod variants;
