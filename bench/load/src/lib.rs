//! Runs server programs and exchanges raw messages with them, without this project's libraries.

mod gateway;
mod http;
mod program;
mod redis;
mod stdio;
mod turn;

pub use gateway::{Gateway, PORT};
pub use http::{Body, Http};
pub use program::{Program, Usage};
pub use redis::{Redis, Work};
pub use stdio::{Lines, Writer};
pub use turn::Turn;

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

/// One measured number, in the format that the report of `cargo xtask bench` reads.
#[derive(Debug, Serialize)]
pub struct Cell {
    /// Its table.
    pub table: String,
    /// Its row: the case.
    pub row: String,
    /// Its column: the server.
    pub column: String,
    /// The number.
    pub value: f64,
}

impl Cell {
    /// Makes a cell of a table.
    #[must_use]
    pub fn new(table: &str, row: &str, column: &str, value: f64) -> Self {
        Self {
            table: table.to_owned(),
            row: row.to_owned(),
            column: column.to_owned(),
            value,
        }
    }
}

/// Returns the median of latencies, in milliseconds.
#[must_use]
pub fn median(latencies: &[Duration]) -> f64 {
    let mut sorted = latencies.to_vec();
    sorted.sort_unstable();
    let middle = sorted.get(sorted.len() / 2);
    middle.map_or(0.0, |latency| latency.as_secs_f64() * 1e3)
}

/// Returns a JSON-RPC request as text.
#[must_use]
pub fn request(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// Returns a JSON-RPC notification as text.
#[must_use]
pub fn notification(method: &str) -> String {
    json!({"jsonrpc": "2.0", "method": method}).to_string()
}

/// Returns the request that opens a session. The client declares roots.
#[must_use]
pub fn initialize(revision: &str) -> String {
    let client = json!({"name": "load", "version": "1.0"});
    let capabilities = json!({"roots": {"listChanged": true}});
    let params = json!({"protocolVersion": revision, "capabilities": capabilities, "clientInfo": client});
    request(0, "initialize", &params)
}

/// Returns a call of the tool `name` with the argument `text`.
#[must_use]
pub fn call(id: u64, name: &str, text: &str) -> String {
    request(id, "tools/call", &json!({"name": name, "arguments": {"text": text}}))
}

/// Returns the same call of a stateless revision.
#[must_use]
pub fn stateless_call(revision: &str, id: u64, name: &str, text: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
        "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1.0"},
    });
    let params = json!({"_meta": meta, "name": name, "arguments": {"text": text}});
    request(id, "tools/call", &params)
}

/// Returns the notification that the session is initialized.
#[must_use]
pub fn initialized() -> String {
    notification("notifications/initialized")
}
