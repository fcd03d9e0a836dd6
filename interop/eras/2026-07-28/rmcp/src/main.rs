//! A client and a server built on rmcp, as peers for our server and our client.
//!
//!     rmcp-driver client (--stdio COMMAND ARGUMENT… | --http URL)
//!     rmcp-driver server (--stdio | --http)
//!
//! The client takes every step with a server that has the fixtures, and prints a JSON line for each. The server has the
//! fixtures; over HTTP, it first prints its URL. It stops at the end of its input.
//!
//! The environment variable MCP_MODE selects how the client starts: `auto`, `stateless` or `handshake`.
//!
//! Values of rmcp's types are made from JSON and examined as JSON, as in the other drivers.

// A later revision deprecates features that are used here.
#![allow(deprecated)]

mod client;
mod server;

use std::process::ExitCode;

use rmcp::ErrorData;
use serde_json::Value;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["client", "--stdio", command, arguments @ ..] => client::over_stdio(command, arguments).await,
        ["client", "--http", url] => client::over_http(url).await,
        ["server", "--stdio"] => server::over_stdio().await.map(|()| ExitCode::SUCCESS),
        ["server", "--http"] => server::over_http().await.map(|()| ExitCode::SUCCESS),
        _ => anyhow::bail!("usage: rmcp-driver (client (--stdio COMMAND… | --http URL) | server (--stdio | --http))"),
    }
}

/// Converts JSON into one of rmcp's types.
fn typed<T: serde::de::DeserializeOwned>(json: Value) -> Result<T, ErrorData> {
    serde_json::from_value(json).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Converts one of rmcp's types into JSON.
fn json(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
