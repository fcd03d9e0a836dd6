//! The arguments of `registry`.

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use mcp_registry_types::Revision;

use super::Format;

/// Write, check or upgrade the server.json with which a server is listed in the MCP Registry
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-rev registry init                                   # from Cargo.toml
  mcp-rev registry validate
  mcp-rev registry upgrade --write")]
pub struct RegistryArgs {
    #[command(subcommand)]
    pub command: RegistryCommand,
}

#[derive(Debug, Subcommand)]
pub enum RegistryCommand {
    Init(InitArgs),
    Validate(ValidateArgs),
    Upgrade(UpgradeArgs),
}

/// Write the server.json of a crate
///
/// Name, version, description and repository are those of the crate, which cargo is asked for. Users install it from the crate registry,
/// and the server speaks over standard input and output. The file has the newest form; what the registry would refuse is reported.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-rev registry init
  mcp-rev registry init servers/weather/Cargo.toml --name com.example/weather")]
pub struct InitArgs {
    /// The manifest of the crate, or of its workspace
    #[arg(value_name = "MANIFEST", default_value = "Cargo.toml")]
    pub manifest: PathBuf,
    /// The crate, if the workspace has several
    #[arg(long, value_name = "CRATE")]
    pub package: Option<String>,
    /// The name of the server [default: io.github.OWNER/CRATE, if the repository is on GitHub]
    #[arg(long)]
    pub name: Option<String>,
    /// Write to this file [default: server.json beside the manifest of the crate]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if there is one
    #[arg(long)]
    pub force: bool,
}

/// Check a server.json
///
/// It is validated by the schema that it names in `$schema`, and by what the registry checks besides: the form of names, versions and
/// addresses, what each kind of package may have, and the line `mcp-name: NAME` in the README of a crate, by which the registry knows that
/// crate and server are the same author's. Nothing is sent to the registry. Each problem is printed with its line and column. Warnings,
/// such as that there is a newer form, don't change the exit status.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-rev registry validate
  mcp-rev registry validate dist/server.json --readme README.md --format json")]
pub struct ValidateArgs {
    /// The file
    #[arg(default_value = "server.json")]
    pub file: PathBuf,
    /// The README of the crate [default: README.md beside the file, if there is one]
    #[arg(long, value_name = "FILE")]
    pub readme: Option<PathBuf>,
    /// How the problems are printed
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// Convert a server.json to the newest form
///
/// The document is printed, or written to its file with --write. What the newest form can't say is printed to standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-rev registry upgrade > new.json
  mcp-rev registry upgrade server.json --write --strict")]
pub struct UpgradeArgs {
    /// The file
    #[arg(default_value = "server.json")]
    pub file: PathBuf,
    /// Replace the file
    #[arg(long)]
    pub write: bool,
    /// Fail if anything is lost, and print and write nothing
    #[arg(long)]
    pub strict: bool,
    /// The form of a document that doesn't name its schema
    #[arg(long, value_name = "REVISION", value_parser = form())]
    pub from: Option<Revision>,
}

/// Parses a form. A wrong one is answered with the known ones.
fn form() -> impl TypedValueParser<Value = Revision> {
    PossibleValuesParser::new(Revision::all().map(Revision::as_str)).try_map(|name| name.parse::<Revision>())
}
