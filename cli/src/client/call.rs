//! `mcp-rev call`

use futures_util::TryStreamExt;
use mcp_adapters::mcp_wire::RawObject;
use mcp_runtime::hub::{CallToolRequestParams, CallToolResult, Tool};
use mcp_runtime::{CallServer, ClientSide, Peer};

use super::arguments::arguments;
use super::content::shown;
use super::{ResultWriter, with_server};
use crate::args::{Argument, CallArgs};
use crate::error::{CommandError, Summary};
use crate::paint::Paint;

/// Calls a tool, and prints its result.
pub fn call(args: &CallArgs, output: impl Paint) -> Result<Summary, CommandError> {
    with_server(&args.client, output, async |peer, shown| {
        call_with(peer, &args.tool, args.json.as_ref(), &args.arguments, shown).await
    })
}

/// Calls a tool in a session, and prints its result.
pub async fn call_with(
    peer: &Peer<ClientSide>,
    tool: &str,
    json: Option<&RawObject>,
    named: &[Argument],
    shown: &mut ResultWriter<'_>,
) -> Result<Summary, CommandError> {
    let tool = find(peer, tool).await?;
    let arguments = arguments(&tool, json, named)?;
    let call = CallToolRequestParams::new(&tool.name).with_arguments(arguments);
    let result = peer.call_tool(call).await?;
    shown.write(&result, write_text)?;
    Ok(Summary::of(result.is_error != Some(true)))
}

/// Finds a tool by its name.
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

fn write_text(result: &CallToolResult, output: &mut dyn Paint) -> std::io::Result<()> {
    for block in &result.content {
        writeln!(output, "{}", shown(block))?;
    }
    match &result.structured_content {
        Some(structured) if result.content.is_empty() => writeln!(output, "{structured}"),
        _ => Ok(()),
    }
}
