//! What can be typed.

use clap::{ArgGroup, Parser, Subcommand};

/// Every revision of the Model Context Protocol from a shell
#[derive(Debug, Parser)]
#[command(
    name = "mcp-rev",
    version,
    after_help = "Exit status: 0 every line was good, 1 some line failed, 2 misuse."
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Decode(DecodeArgs),
    Translate(TranslateArgs),
    /// List the revisions, the earliest first
    Revisions,
}

/// Decode JSON values and write them again
///
/// Reads one JSON value a line from standard input, and writes a line for each: {"ok":true,"value":…} with the value as it is
/// encoded again, or {"ok":false,"path":"…","error":"…"}.
///
/// With --strict, a whole message such as a JSONRPCMessage is validated as the request or notification that its method says. The
/// result in a response stays open, since no message says which method it answers.
#[derive(Debug, clap::Args)]
#[command(
    group = ArgGroup::new("type_of_lines").required(true).args(["definition", "typed"]),
    after_help = "\
Examples:
  echo '{\"content\":[]}' | mcp-rev decode --revision 2025-11-25 --type CallToolResult
  mcp-rev decode --revision 2025-11-25 --typed --strict < instances.jsonl"
)]
pub struct DecodeArgs {
    /// The revision: see `mcp-rev revisions`
    #[arg(long)]
    pub revision: String,
    /// The definition that every line is an instance of, by the schema's name for it
    #[arg(long = "type", value_name = "NAME")]
    pub definition: Option<String>,
    /// Each line names its own: {"type":"Tool","value":…}
    #[arg(long)]
    pub typed: bool,
    /// Validate each value by the revision's schema as well
    #[arg(long)]
    pub strict: bool,
}

/// Translate JSON values from one revision to another
///
/// Reads one JSON value a line from standard input, and writes a line for each: {"ok":true,"value":…,"losses":[…]} with the path,
/// kind and rule of each loss, or {"ok":false,"code":…,"path":"…","error":"…"} with the JSON-RPC code that would tell a peer.
///
/// Both revisions' values have the form that `decode` takes. Where the schema of a revision has the JSON-RPC envelope around
/// requests and notifications, so do the values; an id can't be made up for a request that has none. A whole message such as
/// a JSONRPCMessage is translated as the request or notification that its method says, and the result in a response stays as
/// it is.
#[derive(Debug, clap::Args)]
#[command(
    group = ArgGroup::new("type_of_lines").required(true).args(["definition", "typed"]),
    after_help = "\
Examples:
  mcp-rev translate --from 2025-11-25 --to 2024-11-05 --type ListToolsResult < tools.jsonl
  mcp-rev translate --from 2025-11-25 --to 2025-06-18 --typed --carry < instances.jsonl"
)]
pub struct TranslateArgs {
    /// The revision that the values are of: see `mcp-rev revisions`
    #[arg(long, value_name = "REVISION")]
    pub from: String,
    /// The revision that they shall be of
    #[arg(long, value_name = "REVISION")]
    pub to: String,
    /// The definition that every line is an instance of, by the schema's name for it
    #[arg(long = "type", value_name = "NAME")]
    pub definition: Option<String>,
    /// Each line names its own: {"type":"Tool","value":…}
    #[arg(long)]
    pub typed: bool,
    /// Keep what the other revision doesn't declare as undeclared members, so that it can be put back
    #[arg(long)]
    pub carry: bool,
}
