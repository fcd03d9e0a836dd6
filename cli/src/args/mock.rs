//! The arguments of `mock`.

use std::path::PathBuf;

/// Serve a recorded session, or a mock server made from a snapshot
///
/// Serves one client on standard input and output. With a transcript of `mcp-rev bridge --record`, a request gets the
/// response that was recorded for the same method and parameters; `_meta` isn't compared. Messages that the server sent
/// before the response, such as progress, are sent before it again. A request that wasn't recorded gets an error.
///
/// With the output of `mcp-rev snapshot`, tools accept what their schemas allow, and return made-up values that match
/// their output schemas; prompts and resources return a text.
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
