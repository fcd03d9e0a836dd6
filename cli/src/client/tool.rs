//! `mcp-rev tool`

use std::io;

use mcp_runtime::hub::{Tool, ToolAnnotations};
use mcp_runtime::mcp_wire::{Encode, RawJson};
use mcp_runtime::{ClientSide, Peer};
use serde_json::Value;

use super::call::find;
use super::{ResultWriter, with_server};
use crate::args::ToolArgs;
use crate::error::{CommandError, Summary};
use crate::paint::{HEADING, NONE, Paint};
use crate::plain::plain;
use crate::text::{one_line, write_heading, write_table};

/// Prints everything that a server declares about a tool.
pub fn tool(args: &ToolArgs, output: impl Paint) -> Result<Summary, CommandError> {
    with_server(&args.client, output, async |peer, shown| {
        tool_with(peer, &args.tool, shown).await
    })
}

/// Prints everything that the server of a session declares about a tool.
pub async fn tool_with(
    peer: &Peer<ClientSide>,
    name: &str,
    shown: &mut ResultWriter<'_>,
) -> Result<Summary, CommandError> {
    let tool = find(peer, name).await?;
    shown.write(&tool, write_text)?;
    Ok(Summary::AllSucceeded)
}

fn write_text(tool: &Tool, output: &mut dyn Paint) -> io::Result<()> {
    output.paint(HEADING, &one_line(&tool.name))?;
    writeln!(output)?;
    let title = tool.title.as_ref().map(|title| ["title".to_owned(), one_line(title)]);
    let hints = tool.annotations.as_ref().map(hints).filter(|hints| !hints.is_empty());
    let hints = hints.map(|hints| ["annotations".to_owned(), hints]);
    let rows: Vec<_> = title.into_iter().chain(hints).collect();
    write_table(&mut *output, &rows, |_, _| NONE)?;
    if let Some(description) = &tool.description {
        writeln!(output, "\n{}", plain(description.trim_end()))?;
    }
    write_json(output, "Input schema", Some(&tool.input_schema))?;
    write_json(output, "Output schema", tool.output_schema.as_ref())?;
    write_json(output, "Metadata", tool.meta.as_ref())
}

fn write_json(output: &mut dyn Paint, heading: &str, json: Option<&impl Encode>) -> io::Result<()> {
    let Some(json) = json.and_then(|json| RawJson::from_encode(json).ok()) else {
        return Ok(());
    };
    let pretty = json
        .parse::<Value>()
        .and_then(|value| serde_json::to_string_pretty(&value));
    // If the value can't be parsed, for example because a number is out of range, it is shown as it was received.
    let pretty = pretty.unwrap_or_else(|_| json.text().to_owned());
    write_heading(&mut *output, heading)?;
    writeln!(output, "{}", plain(&pretty))
}

/// The hints of a tool's annotations, as words: `readOnlyHint, openWorldHint: false`.
fn hints(annotations: &ToolAnnotations) -> String {
    let hints = RawJson::from_encode(annotations).map(|json| json.parse::<Value>());
    let Ok(Ok(Value::Object(hints))) = hints else {
        return String::new();
    };
    let hint = |(name, value): (&String, &Value)| match value {
        Value::Bool(true) => name.clone(),
        value => format!("{name}: {value}"),
    };
    one_line(&hints.iter().map(hint).collect::<Vec<_>>().join(", "))
}
