//! `mcp-rev call`

use std::io::Write;

use futures_util::TryStreamExt;
use mcp_runtime::hub::{CallToolRequestParams, CallToolResult, Tool};
use mcp_runtime::{CallServer, ClientSide, Peer};

use super::arguments::arguments;
use super::content::shown;
use super::with_server;
use crate::args::{CallArgs, Format};
use crate::error::{CommandError, Summary};

/// Calls a tool, and prints its result.
pub fn call(args: &CallArgs, mut output: impl Write) -> Result<Summary, CommandError> {
    let result = with_server(&args.client, async |peer| {
        let tool = find(&peer, &args.tool).await?;
        let arguments = arguments(&tool, args.json.as_deref(), &args.pairs)?;
        let call = CallToolRequestParams::new(&args.tool).with_arguments(arguments);
        Ok(peer.call_tool(call).await?)
    })?;
    match args.client.format {
        Format::Json => writeln!(
            output,
            "{}",
            serde_json::to_string(&result).map_err(std::io::Error::from)?
        )?,
        Format::Text => write_text(&result, &mut output)?,
    }
    output.flush()?;
    Ok(match result.is_error {
        Some(true) => Summary::SomeFailed,
        _ => Summary::AllSucceeded,
    })
}

/// A tool by its name.
pub(super) async fn find(peer: &Peer<ClientSide>, name: &str) -> Result<Tool, CommandError> {
    let mut tools = peer.list::<Tool>();
    let mut known = Vec::new();
    while let Some(tool) = tools.try_next().await? {
        if tool.name == name {
            return Ok(tool);
        }
        known.push(tool.name);
    }
    Err(CommandError::Unoffered {
        kind: "tool",
        name: name.to_owned(),
        known,
    })
}

fn write_text(result: &CallToolResult, output: &mut impl Write) -> std::io::Result<()> {
    for block in &result.content {
        writeln!(output, "{}", shown(block))?;
    }
    match &result.structured_content {
        Some(structured) if result.content.is_empty() => writeln!(output, "{structured}"),
        _ => Ok(()),
    }
}
