//! The arguments of `mock`.

use std::path::PathBuf;

/// Serve a recorded session, or what a server is said to offer
///
/// Serves the client on standard input and output. With a transcript of `mcp-rev bridge --record`, a request is answered as it was when the
/// recorded client sent the same: its method and its parameters are compared, without `_meta`. What the server sent before the
/// response, such as progress, comes before it again. A request that wasn't recorded gets an error.
///
/// With what `mcp-rev snapshot` writes, tools take what their schemas allow, and give made-up values of their output schemas; prompts and
/// resources give a text.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-rev bridge --record session.jsonl -- python server.py
  mcp-rev call weather --arg city=Bern -- mcp-rev mock session.jsonl
  mcp-rev bridge --listen http://127.0.0.1:8080/mcp -- mcp-rev mock interface.json")]
pub struct MockArgs {
    /// The transcript, or the snapshot
    pub file: PathBuf,
    /// The session of a transcript to serve, if it isn't the first
    #[arg(long, value_name = "NUMBER")]
    pub session: Option<u64>,
}
