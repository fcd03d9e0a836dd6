//! A client and a server of rmcp, for our server and our client to talk to.
//!
//!     rmcp-driver client (--stdio COMMAND ARGUMENT… | --http URL)
//!     rmcp-driver server (--stdio | --http)
//!
//! The client goes through everything with a server that has the fixtures, and prints a line of JSON for each step. The
//! server has the fixtures, and over HTTP prints its URL first; it stops at the end of its input.
//!
//! The environment variable MCP_MODE says how the client begins: `auto`, `stateless` or `handshake`.
//!
//! What rmcp has types for is made from JSON and looked at as JSON, as the other drivers do it.

// A later revision deprecates what this one has.
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

/// A value of one of rmcp's types.
fn typed<T: serde::de::DeserializeOwned>(json: Value) -> Result<T, ErrorData> {
    serde_json::from_value(json).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// What one of rmcp's types is as JSON.
fn json(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
