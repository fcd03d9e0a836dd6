//! The arguments of `shell`, and the lines that it reads.

use std::path::PathBuf;

use mcp_adapters::mcp_wire::RawObject;
use mcp_runtime::hub::LoggingLevel;

use super::ClientArgs;
use super::argument::json;
use super::client::log_level;

/// Use a server line by line
///
/// Starts a session, and reads commands until `quit` or the end of input. `help` lists the commands. On a terminal, the
/// tab key completes names and arguments, and the arrow keys recall earlier lines. These are kept in a file that only
/// its owner can read, except lines that start with a space. An interrupt cancels the running command.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev shell [OPTIONS] <URL|--config FILE|-- COMMAND...>",
    after_help = "\
Examples:
  mcp-rev shell -- npx -y @modelcontextprotocol/server-everything
  echo 'call weather city=Bern' | mcp-rev shell https://example.org/mcp"
)]
pub struct ShellArgs {
    /// The history file [default: mcp-rev/history in the user's data directory]
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    #[command(flatten)]
    pub client: ClientArgs,
}

/// A line of the shell.
#[derive(Debug, clap::Parser)]
#[command(multicall = true, name = "shell")]
pub struct ShellLine {
    #[command(subcommand)]
    pub command: ShellCommand,
}

#[derive(Debug, clap::Subcommand)]
pub enum ShellCommand {
    /// Show what the server is and what it offers
    Inspect,
    /// Show everything that the server declares about a tool
    Tool {
        /// The name of the tool
        tool: String,
    },
    /// Call a tool
    Call {
        /// The name of the tool
        tool: String,
        /// The arguments: NAME=VALUE or NAME:=JSON, or all as one JSON object, or @FILE that contains it. JSON doesn't
        /// have to be quoted
        #[arg(value_name = "NAME=VALUE|NAME:=JSON|JSON|@FILE")]
        arguments: Vec<String>,
    },
    /// Read a resource
    Read {
        /// The URI of the resource
        uri: String,
    },
    /// Get a prompt
    Prompt {
        /// The name of the prompt
        name: String,
        /// Its arguments
        #[arg(value_name = "NAME=VALUE", value_parser = super::server::pair)]
        arguments: Vec<(String, String)>,
    },
    /// Send a request of any method
    Request {
        /// The method
        method: String,
        /// The parameters: a JSON object, or @FILE that contains it
        #[arg(value_name = "JSON|@FILE", value_parser = json::<RawObject>)]
        params: Option<RawObject>,
    },
    /// Measure how long the server takes to respond
    Ping,
    /// Set the level of the log messages that the server sends
    SetLevel {
        /// The level
        #[arg(value_parser = log_level())]
        level: LoggingLevel,
    },
    /// End the session
    #[command(alias = "exit")]
    Quit,
}
