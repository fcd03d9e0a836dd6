//! The arguments of the filters for JSON.

use clap::ArgGroup;
use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{RawJson, from_str};
use serde_json::Value;

use super::revision;
use super::server::pair;

/// Decode JSON values and encode them again
///
/// Reads JSON values from standard input, one per line or not, and writes one line for each: {"ok":true,"value":…} with
/// the value encoded again, or {"ok":false,"line":…,"column":…,"byte":…,"path":"…","error":"…"} with the position of
/// the value in the input and the path of the error in the value.
///
/// With --strict, a whole message (JSONRPCMessage and the like) is validated as the request or notification that its method
/// names. The result in a response isn't validated, because a response doesn't name its method.
#[derive(Debug, clap::Args)]
#[command(
    group = ArgGroup::new("type_of_values").required(true).args(["definition", "typed"]),
    after_help = "\
Examples:
  echo '{\"content\":[]}' | mcp-rev decode --revision 2025-11-25 --type CallToolResult
  mcp-rev decode --revision 2025-11-25 --typed --strict < instances.jsonl"
)]
pub struct DecodeArgs {
    /// The revision
    #[arg(long, value_parser = revision())]
    pub revision: Revision,
    /// The name of the schema's definition that every value is an instance of
    #[arg(long = "type", value_name = "NAME")]
    pub definition: Option<String>,
    /// Each value names its own definition: {"type":"Tool","value":…}
    #[arg(long)]
    pub typed: bool,
    /// Also validate each value against the revision's schema
    #[arg(long)]
    pub strict: bool,
}

/// Translate JSON values from one revision to another
///
/// Reads JSON values from standard input, one per line or not, and writes one line for each:
/// {"ok":true,"value":…,"losses":[…]} with the path, kind and rule of each loss, or
/// {"ok":false,"line":…,"column":…,"byte":…,"code":…,"path":"…","error":"…"} with the code of the JSON-RPC error.
///
/// Input and output have the form that `decode` reads. Where the schema of a revision includes the JSON-RPC envelope in
/// its requests and notifications, so do the values; a request without an id can't get one. A whole message
/// (JSONRPCMessage and the like) is translated as the request or notification that its method names. The result in a
/// response isn't translated. The code of an error is, for the method of --method.
///
/// Some revisions repeat in each request what others state once per session, such as the capabilities of the client. A
/// value without it can't be translated to such a revision, and the error names the key to give with --supply. In the
/// other direction, it is lost; with --supply, it is written next to the value instead, as "supply":{…}.
#[derive(Debug, clap::Args)]
#[command(
    group = ArgGroup::new("type_of_values").required(true).args(["definition", "typed"]),
    after_help = "\
Examples:
  mcp-rev translate --from 2025-11-25 --to 2024-11-05 --type ListToolsResult < tools.jsonl
  mcp-rev translate --from 2025-11-25 --to 2025-06-18 --typed --carry < instances.jsonl
  mcp-rev translate --from 2025-11-25 --to 2025-06-18 --type Tool --strict < tools.jsonl || echo not all of it
  mcp-rev translate --from 2025-11-25 --to 2026-07-28 --type ClientRequest --supply meta.capabilities={} < calls.jsonl"
)]
pub struct TranslateArgs {
    /// The revision of the input
    #[arg(long, value_name = "REVISION", value_parser = revision())]
    pub from: Revision,
    /// The revision to translate to
    #[arg(long, value_name = "REVISION", value_parser = revision())]
    pub to: Revision,
    /// The name of the schema's definition that every value is an instance of
    #[arg(long = "type", value_name = "NAME")]
    pub definition: Option<String>,
    /// Each value names its own definition: {"type":"Tool","value":…}
    #[arg(long)]
    pub typed: bool,
    /// The method whose calls failed, for error responses; without it, only codes are translated that mean the same for
    /// each method
    #[arg(long)]
    pub method: Option<String>,
    /// A value that the session knows and the target revision repeats in each message; may be given several times
    ///
    /// The value is JSON, or text. The keys are those of the rules between the two revisions; the error for an unknown
    /// key lists them. meta.capabilities, meta.client and meta.log-level are the client's, and meta.version is by
    /// default the revision of --to.
    #[arg(long = "supply", value_name = "KEY=VALUE", value_parser = supplied)]
    pub supply: Vec<(String, RawJson)>,
    /// Keep values that the target revision doesn't declare, as undeclared members, so that nothing is lost on the way
    /// back
    #[arg(long)]
    pub carry: bool,
    /// Fail if anything is lost: each loss is also written to standard error, and the exit status is 1
    #[arg(long)]
    pub strict: bool,
}

/// A key and a value, which is JSON, or text that doesn't look like JSON.
fn supplied(text: &str) -> Result<(String, RawJson), String> {
    let (key, value) = pair(text)?;
    match from_str(&value) {
        Ok(json) => Ok((key, json)),
        Err(error) if value.starts_with(['{', '[', '"']) => Err(format!("the value isn't JSON: {error}")),
        Err(_) => Ok((key, Value::from(value).into())),
    }
}
