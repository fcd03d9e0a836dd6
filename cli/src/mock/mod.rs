//! `mcp-rev mock`: a server that answers from a file.

mod interface;
mod recording;

use std::io::{BufRead, Write};

use serde_json::Value;

use crate::args::MockArgs;
use crate::error::{CommandError, Summary};

/// Serves the client on standard input and output until it ends: a recorded session, or what a snapshot says that a server offers.
pub fn mock(args: &MockArgs, input: impl BufRead, output: impl Write) -> Result<Summary, CommandError> {
    let text = std::fs::read_to_string(&args.file).map_err(|error| CommandError::file(&args.file, error))?;
    // A transcript has a value in each line.
    match serde_json::from_str::<Value>(&text) {
        Ok(snapshot) if snapshot["tools"].is_array() => interface::serve(&args.file, &snapshot),
        _ => recording::serve(args, input, output),
    }
}
