//! `mcp-rev mock`: a server that responds from a file.

mod interface;
mod recording;

use std::io::{BufRead, Write};

use serde_json::Value;

use crate::args::MockArgs;
use crate::error::{CommandError, Summary};
use crate::input_file::read_text;

/// Serves one client on standard input and output until it ends: a recorded session, or the items of a snapshot.
pub fn mock(args: &MockArgs, input: impl BufRead, output: impl Write) -> Result<Summary, CommandError> {
    let text = read_text(&args.file).map_err(|error| CommandError::file(&args.file, error))?;
    // A snapshot is one JSON value. A transcript has one in each line.
    match serde_json::from_str::<Value>(&text) {
        Ok(snapshot) if snapshot["tools"].is_array() => interface::serve(&args.file, &snapshot),
        Ok(other) if other.get("time").is_none() => {
            let reason = "it is neither a snapshot, which has `tools`, nor what `mcp-rev bridge --record` writes";
            Err(CommandError::file(&args.file, reason))
        }
        _ => recording::serve(args, input, output),
    }
}
