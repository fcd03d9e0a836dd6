//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use mcp_runtime::Revision;

/// Run mcp-runtime against other implementations
#[derive(Debug, Parser)]
#[command(
    name = "mcp-interop",
    after_help = "Exit status: 0 success, 1 a failure, 2 wrong arguments."
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Peers(PeersArgs),
    Conformance(ConformanceArgs),
    /// Get tokens from a real authorization server, for one of our servers and one of the TypeScript SDK
    ///
    /// The authorization server is the npm package oidc-provider. Its dependencies are installed below target/interop
    /// on first use.
    Authorization,
    /// Run the official JSON Schema test suite with the validator of mcp-wire
    ///
    /// The suite is part of the Python package jsonschema, which pip downloads below target/interop on first use. All
    /// tests of draft-07 and 2020-12 are run, except the optional ones for annotations such as `format`. A test counts
    /// as refused if the validator refuses its schema; the reasons are counted below the table. A wrong verdict is a
    /// failure.
    JsonSchemaSuite,
}

/// Run our server against the clients of every era's SDKs, and our client against their servers
///
/// The packages of an era are listed in interop/eras/REVISION, and are installed below target/interop on first use, by
/// npm and pip. Every message that our side sends is validated against the official schema of the negotiated revision.
/// The table is printed on standard output, failures on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask interop
  cargo xtask interop --revision 2099-01-01 --only python
  cargo xtask interop --json | jq '.[] | select(.failed > 0)'")]
pub struct PeersArgs {
    /// Only the era of this revision; may be given more than once
    #[arg(long = "revision")]
    pub revisions: Vec<Revision>,
    /// Only rows with this word in one of their columns
    #[arg(long, value_name = "WORD")]
    pub only: Option<String>,
    /// Instead, run the clients of every era with the servers of every era, through `mcp-rev bridge` and without it
    ///
    /// The table counts the successful steps among those that both sides support, which are those that succeed with a
    /// peer of their own era. What the bridge writes is validated against the official schema of the side that reads
    /// it.
    #[arg(long, conflicts_with = "json")]
    pub bridge: bool,
    /// Instead, run our client with two of our servers behind `mcp-rev gateway` and behind other gateways
    ///
    /// The table shows which features each gateway passes on. The other gateways are the packages in
    /// bench/load/gateways. A feature that our gateway doesn't pass on is a failure.
    #[arg(long, conflicts_with_all = ["bridge", "json", "markdown", "only", "revisions"])]
    pub gateways: bool,
    /// Print a JSON array instead of the table
    #[arg(long)]
    pub json: bool,
    /// Also write the table to this file, as Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}

/// Run the official conformance suite with our server and our client
///
/// The suite and its version of Node are listed in interop/conformance. runs.yaml lists the runs there, and
/// expected-failures-REVISION.yaml the scenarios that are expected to fail. Any other failure fails the run, and so
/// does an expected failure that passes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask conformance
  cargo xtask conformance --requirements 2026-07-28
  cargo xtask conformance --json | jq 'map_values(.failed)'")]
pub struct ConformanceArgs {
    /// Only the runs with the requirements of this revision; may be given more than once
    #[arg(long, value_name = "REVISION")]
    pub requirements: Vec<Revision>,
    /// Print JSON instead of the table
    #[arg(long)]
    pub json: bool,
}
