//! The arguments of the commands that are clients of a server.

use std::path::PathBuf;

use clap::ArgGroup;
use mcp_adapters::mcp_wire::RawObject;
use mcp_runtime::hub::LoggingLevel;

use super::argument::{Argument, argument, json};
use super::server::pair;
use super::{Format, ServerArgs};

/// Show what a server is and what it offers
///
/// Prints the server's name, era, revision, capabilities and instructions, and its tools, resources, resource templates and
/// prompts.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev inspect [OPTIONS] <URL|--config FILE|-- COMMAND...>",
    after_help = "\
Examples:
  mcp-rev inspect https://example.org/mcp
  mcp-rev inspect --format json -- npx -y @modelcontextprotocol/server-everything"
)]
pub struct InspectArgs {
    /// How to print the result
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Show everything that a server declares about a tool
///
/// Prints its title, annotations, description and schemas, or the whole tool with --format json.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev tool [OPTIONS] <TOOL> <URL|--config FILE|-- COMMAND...>",
    after_help = "\
Example:
  mcp-rev tool weather https://example.org/mcp"
)]
pub struct ToolArgs {
    /// The name of the tool
    pub tool: String,
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Call a tool
///
/// Prints the content of the result, or the whole result with --format json. A result with `isError` has the exit status 1.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev call [OPTIONS] <TOOL> <URL|--config FILE|-- COMMAND...>",
    after_help = "\
Examples:
  mcp-rev call weather --arg city=Bern https://example.org/mcp
  mcp-rev call add --arg a=2 --arg b=3 --format json -- node server.js
  mcp-rev call search --arg 'tags:=[\"new\"]' --arg filter:=@filter.json -- python -m server
  mcp-rev call search --args @arguments.json -- python -m server"
)]
pub struct CallArgs {
    /// The name of the tool
    pub tool: String,
    /// An argument of the tool; may be given several times. The value is JSON, or text where the tool's schema expects
    /// a string
    ///
    /// After `:=`, the value is always JSON, or is read from the file after `@`: NAME:=JSON, NAME:=@FILE.
    #[arg(long = "arg", value_name = "NAME=VALUE|NAME:=JSON", value_parser = argument)]
    pub arguments: Vec<Argument>,
    /// The arguments as one JSON object, or `@` and a file that contains it; those of --arg are added to it
    #[arg(long = "args", value_name = "JSON|@FILE", value_parser = json::<RawObject>)]
    pub json: Option<RawObject>,
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Read a resource
///
/// Writes the text or the bytes of the resource as they are, or the whole result with --format json.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev read [OPTIONS] <URI> <URL|--config FILE|-- COMMAND...>",
    after_help = "\
Example:
  mcp-rev read file:///logo.png https://example.org/mcp > logo.png"
)]
pub struct ReadArgs {
    /// The URI of the resource
    pub uri: String,
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Get a prompt
///
/// Prints its messages, or the whole result with --format json.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev prompt [OPTIONS] <NAME> <URL|--config FILE|-- COMMAND...>",
    after_help = "\
Example:
  mcp-rev prompt review --arg language=Rust -- node server.js"
)]
pub struct PromptArgs {
    /// The name of the prompt
    pub name: String,
    /// An argument of the prompt
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = pair)]
    pub pairs: Vec<(String, String)>,
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Send a request of any method
///
/// Prints the result as JSON: in the form of the latest released revision if that has the method, otherwise as the
/// server sends it. No other request is sent that the method doesn't need.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev request [OPTIONS] <METHOD> <URL|--config FILE|-- COMMAND...>",
    after_help = "\
Examples:
  mcp-rev request tools/list https://example.org/mcp
  mcp-rev request ping --revision 2025-11-25 -- node server.js
  mcp-rev request x/stats --params '{\"days\":7}' --config mcp.json --server stats"
)]
pub struct RequestArgs {
    /// The method
    pub method: String,
    /// The parameters: a JSON object, or `@` and a file that contains it
    #[arg(long, value_name = "JSON|@FILE", value_parser = json::<RawObject>)]
    pub params: Option<RawObject>,
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Ask a server to complete an argument
///
/// Prints what the server suggests for an argument of a prompt or a variable of a resource template, one value per
/// line.
#[derive(Debug, clap::Args)]
#[command(
    group = ArgGroup::new("of").required(true).args(["prompt", "template"]),
    override_usage = "mcp-rev complete [OPTIONS] <--prompt <NAME>|--template <TEMPLATE>> <ARGUMENT=VALUE> <URL|--config FILE|-- COMMAND...>",
    after_help = "\
Examples:
  mcp-rev complete --prompt review language=py https://example.org/mcp
  mcp-rev complete --template 'repo://{owner}/{name}' name=m --arg owner=ada -- node server.js"
)]
pub struct CompleteArgs {
    /// The argument, and the start of its value
    #[arg(value_name = "ARGUMENT=VALUE", value_parser = pair)]
    pub typed: (String, String),
    /// The name of the prompt
    #[arg(long, value_name = "NAME")]
    pub prompt: Option<String>,
    /// The resource template
    #[arg(long, value_name = "TEMPLATE")]
    pub template: Option<String>,
    /// Another argument whose value is known; may be given several times
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = pair)]
    pub pairs: Vec<(String, String)>,
    #[command(flatten)]
    pub client: ClientArgs,
}

/// Measure how long a server takes to respond
///
/// Sends `ping`, or `server/discover` to a server without a handshake, and prints the time until each response.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev ping [OPTIONS] <URL|--config FILE|-- COMMAND...>",
    after_help = "\
Example:
  mcp-rev ping --count 10 https://example.org/mcp"
)]
pub struct PingArgs {
    /// The number of requests
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub count: u32,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Set the level of the log messages that a server sends
///
/// Sends `logging/setLevel`, and prints nothing if the server accepts it. The level lasts as long as the session, so
/// this command only tests the server; --log of the other commands sets the level for what they do. Revisions without a
/// handshake have no such request.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev set-level [OPTIONS] <LEVEL> <URL|--config FILE|-- COMMAND...>",
    after_help = "\
Example:
  mcp-rev set-level warning --revision 2025-11-25 -- node server.js"
)]
pub struct SetLevelArgs {
    /// The lowest level of log messages to send
    #[arg(value_parser = log_level())]
    pub level: LoggingLevel,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Print a snapshot of what a server offers, for `diff`
///
/// Prints the same JSON as `inspect --format json`, or nothing if a list fails.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev snapshot [OPTIONS] <URL|--config FILE|-- COMMAND...>",
    after_help = "\
Example:
  mcp-rev snapshot -- node server.js > interface.json"
)]
pub struct SnapshotArgs {
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Report what the changes of a server's interface mean for its clients
///
/// Compares a snapshot with a later one, or with a running server. A change is breaking if a call that was valid before
/// may fail, or its result may not be what a client expects; risky if a model or a client may behave differently, such
/// as after a changed description; and additive otherwise. Schemas are compared by the values that they allow: another
/// way to write the same schema isn't a change.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("url", |url| url.value_name("NEW|URL").help("The later snapshot, or the URL of a server over HTTP").value_parser(clap::value_parser!(String))),
    // `mut_arg` moves an argument to the end, and the command has to be the last positional argument.
    mut_arg("command", |command| command),
    override_usage = "mcp-rev diff [OPTIONS] <OLD> <NEW|URL|--config FILE|-- COMMAND...>",
    after_help = "\
Exit status:
  0  no change is breaking
  1  a change is breaking
  2  wrong arguments, or a file that isn't a snapshot
  3  no session with the server

Examples:
  mcp-rev diff interface.json -- node server.js
  mcp-rev diff interface.json interface-2.json"
)]
pub struct DiffArgs {
    /// The earlier snapshot
    pub old: PathBuf,
    /// How to print the changes
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Print the changes of which a server notifies, one per line
///
/// A line is `tools`, `prompts` or `resources` for a changed list, and `resource URI` for a changed resource. With
/// --format json, each line is an object: {"changed":"resource","uri":"…"}. The command ends when the server does, or
/// at an interrupt.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev listen [OPTIONS] <URL|--config FILE|-- COMMAND...>",
    after_help = "\
Example:
  mcp-rev listen --resource file:///notes.md https://example.org/mcp"
)]
pub struct ListenArgs {
    /// A resource whose changes are printed; may be given several times
    #[arg(long = "resource", value_name = "URI")]
    pub resources: Vec<String>,
    /// How to print the changes
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The arguments shared by the commands whose server can request input before it responds.
#[derive(Debug, clap::Args)]
pub struct ClientArgs {
    /// How to print the result
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Print log messages of this level and above on standard error
    #[arg(long, value_name = "LEVEL", value_parser = log_level())]
    pub log: Option<LoggingLevel>,
    /// Answers to the server's input requests, instead of asking on the terminal: a JSON object with lists
    /// `elicitation` (results with `action` and `content`) and `sampling` (texts), from which each request takes the
    /// next item
    ///
    /// Without a terminal and without this file, input requests are declined.
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// A root that the server gets when it lists the roots; may be given several times
    #[arg(long = "root", value_name = "URI")]
    pub roots: Vec<String>,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Parses the level of log messages.
pub fn log_level() -> impl clap::builder::TypedValueParser<Value = LoggingLevel> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    let levels = [
        "debug",
        "info",
        "notice",
        "warning",
        "error",
        "critical",
        "alert",
        "emergency",
    ];
    PossibleValuesParser::new(levels).map(LoggingLevel::from)
}
