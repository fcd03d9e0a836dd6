//! `mcp-rev prompt`

use std::io::{self, Write};

use mcp_runtime::CallServer;
use mcp_runtime::hub::GetPromptRequestParams;

use super::content::shown;
use super::with_server;
use crate::args::{Format, PromptArgs};
use crate::error::{CommandError, Summary};

/// Gets a prompt, and prints its messages.
pub fn prompt(args: &PromptArgs, mut output: impl Write) -> Result<Summary, CommandError> {
    let result = with_server(&args.client, async |peer| {
        let mut params = GetPromptRequestParams::new(&args.name);
        if !args.pairs.is_empty() {
            params = params.with_arguments(args.pairs.iter().cloned().collect());
        }
        Ok(peer.get_prompt(params).await?)
    })?;
    match args.client.format {
        Format::Json => writeln!(output, "{}", serde_json::to_string(&result).map_err(io::Error::from)?)?,
        Format::Text => {
            for message in &result.messages {
                writeln!(output, "{}: {}", message.role, shown(&message.content))?;
            }
        }
    }
    output.flush()?;
    Ok(Summary::AllSucceeded)
}
