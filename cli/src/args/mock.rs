//! The arguments of `mock`.

use std::path::PathBuf;

/// Serve a recorded session as a server
///
/// Reads a transcript of `mcp-rev bridge --record`, and serves the client on standard input and output. A request is answered as it was
/// when the recorded client sent the same: its method and its parameters are compared, without `_meta`. What the server sent before the
/// response, such as progress, comes before it again. A request that wasn't recorded gets an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-rev bridge --record session.jsonl -- python server.py
  mcp-rev call weather --arg city=Bern -- mcp-rev mock session.jsonl
  mcp-rev bridge --listen http://127.0.0.1:8080/mcp -- mcp-rev mock session.jsonl")]
pub struct MockArgs {
    /// The transcript
    #[arg(value_name = "FILE")]
    pub transcript: PathBuf,
    /// The session to serve, if it isn't the first
    #[arg(long, value_name = "NUMBER")]
    pub session: Option<u64>,
}
