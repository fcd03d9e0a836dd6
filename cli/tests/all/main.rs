//! Tests of the output and exit status of `mcp-rev`.

mod authorization;
mod bridge;
mod bridged_tasks;
mod check;
mod client;
mod colour;
mod commands;
mod gateway;
mod interface;
mod mock;
mod registry;
mod replay;
mod requests;
mod schemas;
mod servers;
mod shell;
mod translate;
#[cfg(unix)]
mod unix;
