//! The command line.

mod argument;
mod auth;
mod bridge;
mod check;
mod client;
mod gateway;
mod generate;
mod limit;
mod mock;
mod registry;
mod replay;
mod server;
mod shell;
mod values;

use std::ffi::OsString;
use std::io;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use mcp_adapters::Revision;

pub use self::argument::{Argument, ArgumentValue, argument, json};
pub use self::auth::{AuthArgs, AuthMode};
pub use self::bridge::{BridgeArgs, Listen, Socket};
pub use self::check::{CheckArgs, ReportFormat, ToolPolicy};
pub use self::client::{
    CallArgs, ClientArgs, CompleteArgs, DiffArgs, InspectArgs, ListenArgs, PingArgs, PromptArgs, ReadArgs, RequestArgs,
    SetLevelArgs, SnapshotArgs, ToolArgs,
};
pub use self::gateway::GatewayArgs;
pub use self::generate::{ExtensionArgs, GenerateArgs};
pub use self::limit::LimitArgs;
pub use self::mock::MockArgs;
pub use self::registry::{InitArgs, RegistryArgs, RegistryCommand, UpgradeArgs, ValidateArgs};
pub use self::replay::ReplayArgs;
pub use self::server::{ServerArgs, is_url};
pub use self::shell::{ShellArgs, ShellCommand, ShellLine};
pub use self::values::{DecodeArgs, TranslateArgs};

/// The position of the global options in help: after those of the command.
const LAST: usize = 900;

/// Every revision of the Model Context Protocol from a shell
///
/// The commands from `inspect` to `diff` are clients of a server, which is given as a URL, as a command after `--` that
/// starts it, or as a name in a host's configuration file. `bridge` connects a client and a server of different
/// revisions, and `gateway` serves many servers as one. `replay` and `mock` replay what a bridge has recorded. `decode`
/// and `translate` are filters for JSON. `generate` writes definitions in TypeScript, and the crate of an extension.
/// `registry` writes, checks and upgrades a server.json.
#[derive(Debug, Parser)]
#[command(
    name = "mcp-rev",
    version,
    after_help = "\
Exit status:
  0  success
  1  something failed: a value, a lossless translation, a call or its tool, a check, or writing the output
  2  wrong arguments
  3  no session with the server: it can't be started or reached, refuses the client, or is gone; `check` and `replay`
     report a server that ends meanwhile, with the status 1"
)]
pub struct Args {
    // `schemas::directory` reads this option before the others, because it decides which revisions they can name.
    /// Also load the revisions of a directory, which has those of mcp-rev and later ones, as `cargo xtask ingest`
    /// writes it
    #[arg(long, global = true, value_name = "DIR", display_order = LAST)]
    schemas: Option<std::path::PathBuf>,
    /// When to use colour: always, never, or auto, which is on a terminal unless the variable NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        display_order = LAST
    )]
    pub color: ColorChoice,
    #[command(subcommand)]
    pub command: Command,
}

impl Args {
    /// Parses the command line. Ends the program if there is nothing to run. `--color` applies to help and errors too.
    ///
    /// # Errors
    /// When the help can't be written.
    pub fn parse_with_color(args: Vec<OsString>) -> io::Result<Self> {
        let color = value_of("--color", &args).and_then(|when| ColorChoice::from_str(when.to_str()?, false).ok());
        let mut command = Self::command().color(color.unwrap_or(ColorChoice::Auto));
        let parsed = command
            .try_get_matches_from_mut(&args)
            .and_then(|matches| Self::from_arg_matches(&matches));
        parsed.or_else(|error| {
            // `clap::Error::exit` ignores that it can't write.
            let error = with_tip_on_servers(error, &command, &args);
            let printed = error.print();
            // Wrong arguments have their exit status even if nobody can read the error.
            if !error.use_stderr() {
                printed?;
            }
            std::process::exit(error.exit_code())
        })
    }
}

/// Replaces the tip on an unexpected argument if it may be part of the command of a server, and `--` is missing.
fn with_tip_on_servers(mut error: clap::Error, command: &clap::Command, args: &[OsString]) -> clap::Error {
    let starts_servers = args
        .iter()
        .find_map(|arg| command.find_subcommand(arg))
        .is_some_and(|command| command.get_arguments().any(clap::Arg::is_last_set));
    let is_similar_to_an_option = error.get(ContextKind::SuggestedArg).is_some();
    if error.kind() == ErrorKind::UnknownArgument
        && starts_servers
        && !is_similar_to_an_option
        && !args.iter().any(|arg| arg == "--")
    {
        let tip = "the command that starts a server goes after `--`".into();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// Finds the value of an option that is needed before the others are parsed.
pub fn value_of(option: &str, args: &[OsString]) -> Option<OsString> {
    let own: Vec<&OsString> = args.iter().take_while(|arg| *arg != "--").collect();
    let separate = own
        .windows(2)
        .find(|pair| pair[0] == option)
        .map(|pair| pair[1].clone());
    let joined = |arg: &&OsString| Some(arg.to_str()?.strip_prefix(option)?.strip_prefix('=')?.into());
    separate.or_else(|| own.iter().find_map(joined))
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Inspect(InspectArgs),
    Tool(ToolArgs),
    Call(CallArgs),
    Read(ReadArgs),
    Prompt(PromptArgs),
    Request(RequestArgs),
    Complete(CompleteArgs),
    Ping(PingArgs),
    SetLevel(SetLevelArgs),
    Shell(ShellArgs),
    Listen(ListenArgs),
    Check(CheckArgs),
    Snapshot(SnapshotArgs),
    Diff(DiffArgs),
    Bridge(BridgeArgs),
    Gateway(GatewayArgs),
    Replay(ReplayArgs),
    Mock(MockArgs),
    Decode(DecodeArgs),
    Translate(TranslateArgs),
    Generate(GenerateArgs),
    Registry(RegistryArgs),
    /// List the revisions, the earliest first
    Revisions,
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  mcp-rev completions bash > ~/.local/share/bash-completion/completions/mcp-rev")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of mcp-rev or of one of its commands
    #[command(after_help = "Example:\n  mcp-rev man call | man -l -")]
    Man {
        /// The command, such as `call` or `registry validate`
        command: Vec<String>,
    },
}

/// The output format of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    Text,
    /// One JSON value
    Json,
}

/// Parses a revision. The error for an unknown revision lists the known ones.
fn revision() -> impl TypedValueParser<Value = Revision> {
    PossibleValuesParser::new(Revision::all().map(Revision::as_str)).try_map(|name| name.parse::<Revision>())
}
