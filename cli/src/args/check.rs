//! The arguments of `check`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::ServerArgs;

/// Check what a server sends by the specification
///
/// Connects to the server, lists and reads what it offers, calls tools, and validates each message of the server by the schema of the
/// negotiated revision, and structured content by the schema of its tool. Each violation is reported with its path in the
/// message, the place in the schema and a link to the specification. An error as an answer isn't a violation, but a tool whose call ends in
/// one gets a warning.
///
/// Only those tools are called that say that they change nothing (`readOnlyHint`), unless --tools or --arguments says otherwise.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev check [OPTIONS] <URL|--config FILE|-- COMMAND...|--transcript <FILE>>",
    after_help = "\
Exit status:
  0  every message conforms to the revision
  1  one doesn't, or a request wasn't answered
  2  wrong arguments
  3  no session with the server

Examples:
  mcp-rev check -- npx -y @modelcontextprotocol/server-everything
  mcp-rev check --transcript record.jsonl
  mcp-rev check --tools all --revision 2025-06-18 --format junit https://example.org/mcp > check.xml"
)]
pub struct CheckArgs {
    /// How to print the report
    #[arg(long, value_enum, default_value = "text")]
    pub format: ReportFormat,
    /// The tools to call, with examples of their arguments
    #[arg(long, value_enum, default_value = "read-only")]
    pub tools: ToolPolicy,
    /// Arguments of tools: a JSON object with the arguments of each tool by its name, or the file with it. These tools are called in any
    /// case
    #[arg(long, value_name = "FILE|JSON")]
    pub arguments: Option<PathBuf>,
    /// The items of each list that are used at most
    #[arg(long, value_name = "COUNT", default_value = "100")]
    pub limit: usize,
    /// Seconds to wait for a server that can't be reached yet, such as one that has just been started
    #[arg(long, value_name = "SECONDS", default_value = "0")]
    pub wait: u64,
    /// Use no server, but validate what is in a transcript of `mcp-rev bridge --record`: what the server sent to the bridge, and what
    /// the bridge sent to its clients
    #[arg(long, value_name = "FILE", group = "target")]
    pub transcript: Option<PathBuf>,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people
    Text,
    /// One JSON value
    Json,
    /// XML that CI servers read
    Junit,
}

/// The tools that are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToolPolicy {
    /// Those that say that they change nothing
    ReadOnly,
    /// Every tool: use a server whose data may change
    All,
    /// None
    None,
}
