//! The limit of a server's messages.

use mcp_runtime::transport::http::client::HttpOptions;
use mcp_runtime::transport::stdio::{LineLimits, SpawnOptions};

const MEBIBYTE: usize = 1024 * 1024;

/// The limit of a server's messages.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct LimitArgs {
    /// The maximum size of a message from the server, in MiB. A longer result is an error
    #[arg(long = "max-message", value_name = "MIB", default_value = "16", value_parser = mebibytes, help_heading = "Server")]
    pub message_bytes: usize,
}

impl LimitArgs {
    /// Sets this limit for the process of a server.
    pub fn of_process(self, options: SpawnOptions) -> SpawnOptions {
        options.limits(LineLimits::default().message_bytes(self.message_bytes))
    }

    /// Sets this limit for a server over HTTP.
    pub fn of_http(self, options: HttpOptions) -> HttpOptions {
        options.message_bytes(self.message_bytes)
    }
}

/// Parses a number of MiB that is at least 1, to bytes.
fn mebibytes(text: &str) -> Result<usize, &'static str> {
    let count: usize = text.parse().map_err(|_| "not a number of MiB")?;
    match count.checked_mul(MEBIBYTE) {
        Some(0) => Err("there must be at least one MiB"),
        Some(bytes) => Ok(bytes),
        None => Err("that is more than any memory has"),
    }
}
