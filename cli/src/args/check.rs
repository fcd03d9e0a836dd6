//! The arguments of `check`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::ServerArgs;

/// Check the messages of a server against the specification
///
/// Connects to the server, lists and reads what it offers, calls tools, and validates each message of the server
/// against the schema of the negotiated revision, and structured content against the schema of its tool. Each violation
/// is reported with its path in the message, its place in the schema and a link to the specification. An error response
/// isn't a violation, but a tool whose call ends in an error gets a warning.
///
/// Only tools that declare that they change nothing (`readOnlyHint`) are called, unless --tools or --arguments selects
/// others.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev check [OPTIONS] <URL|--config FILE|-- COMMAND...|--transcript <FILE>>",
    after_help = "\
Exit status:
  0  every message conforms to the revision
  1  a message doesn't, or a request got no response, such as when the server ended during the check
  2  wrong arguments
  3  no session with the server: it can't be started or reached, or refuses the client

Examples:
  mcp-rev check -- npx -y @modelcontextprotocol/server-everything
  mcp-rev check --transcript record.jsonl
  mcp-rev check --tools all --revision 2025-06-18 --format junit https://example.org/mcp > check.xml"
)]
pub struct CheckArgs {
    /// How to print the report
    #[arg(long, value_enum, default_value = "text")]
    pub format: ReportFormat,
    /// The tools to call, with arguments generated from their schemas
    #[arg(long, value_enum, default_value = "read-only")]
    pub tools: ToolPolicy,
    /// Arguments of tools: a JSON object with the arguments of each tool by its name, or a file that contains it. These
    /// tools are always called
    #[arg(long, value_name = "FILE|JSON")]
    pub arguments: Option<PathBuf>,
    /// The maximum number of items to use of each list, besides the tools that --arguments names
    #[arg(long, value_name = "COUNT", default_value = "100")]
    pub limit: usize,
    /// Seconds to wait for a server that can't be reached yet, such as one that has just been started
    #[arg(long, value_name = "SECONDS", default_value = "0")]
    pub wait: u64,
    /// Validate a transcript of `mcp-rev bridge --record` instead of a server: what the server sent to the bridge, and
    /// what the bridge sent to its clients
    #[arg(long, value_name = "FILE", group = "target")]
    pub transcript: Option<PathBuf>,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Text for people
    Text,
    /// One JSON value
    Json,
    /// JUnit XML for CI servers
    Junit,
}

/// The tools that are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToolPolicy {
    /// Tools that declare that they change nothing
    ReadOnly,
    /// Every tool: use a server whose data may change
    All,
    /// No tool
    None,
}
