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
/// Name, version, description and repository are taken from the crate, by `cargo metadata`. Users install the server
/// from crates.io, and it serves on standard input and output. The file uses the newest schema; anything that the
/// registry would reject is reported.
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
    /// Write to this file [default: server.json next to the manifest of the crate]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if there is one
    #[arg(long)]
    pub force: bool,
}

/// Check a server.json
///
/// The file is validated against the schema that it names in `$schema`, and against the other rules of the registry:
/// the form of names, versions and addresses, the members allowed for each kind of package, and the line `mcp-name:
/// NAME` in the README of a crate, which proves to the registry that crate and server have the same author. Nothing is
/// sent to the registry. Each problem is printed with its line and column. Warnings, such as about a newer schema,
/// don't change the exit status.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-rev registry validate
  mcp-rev registry validate dist/server.json --readme README.md --format json")]
pub struct ValidateArgs {
    /// The file
    #[arg(default_value = "server.json")]
    pub file: PathBuf,
    /// The README of the crate [default: README.md next to the file, if there is one]
    #[arg(long, value_name = "FILE")]
    pub readme: Option<PathBuf>,
    /// How to print the problems
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// Convert a server.json to the newest schema
///
/// The document is printed, or written to its file with --write. Values that the newest schema can't express are
/// reported on standard error.
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
    /// The schema version of a document that doesn't name its schema
    #[arg(long, value_name = "REVISION", value_parser = form())]
    pub from: Option<Revision>,
}

/// Parses a schema version. The error for an unknown one lists the known ones.
fn form() -> impl TypedValueParser<Value = Revision> {
    PossibleValuesParser::new(Revision::all().map(Revision::as_str)).try_map(|name| name.parse::<Revision>())
}
