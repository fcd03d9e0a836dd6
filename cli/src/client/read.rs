//! `mcp-rev read`

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_runtime::CallServer;
use mcp_runtime::hub::{AnyResourceContents, ReadResourceRequestParams};

use super::with_server;
use crate::args::{Format, ReadArgs};
use crate::error::{CommandError, Summary};

/// Reads a resource, and writes its contents as they are.
pub fn read(args: &ReadArgs, mut output: impl Write) -> Result<Summary, CommandError> {
    let result = with_server(&args.client, async |peer| {
        Ok(peer.read_resource(ReadResourceRequestParams::new(&args.uri)).await?)
    })?;
    match args.client.format {
        Format::Json => writeln!(output, "{}", serde_json::to_string(&result).map_err(io::Error::from)?)?,
        Format::Text => {
            for contents in &result.contents {
                match contents {
                    AnyResourceContents::Text(contents) => output.write_all(contents.text.as_bytes())?,
                    AnyResourceContents::Blob(contents) => {
                        let bytes = STANDARD.decode(&contents.blob).map_err(io::Error::other)?;
                        output.write_all(&bytes)?;
                    }
                }
            }
        }
    }
    output.flush()?;
    Ok(Summary::AllSucceeded)
}
