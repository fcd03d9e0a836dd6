//! What can be typed.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use mcp_runtime::Revision;

/// Run mcp-runtime against other implementations
#[derive(Debug, Parser)]
#[command(
    name = "mcp-interop",
    after_help = "Exit status: 0 everything is as it should be, 1 something isn't, 2 misuse."
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Peers(PeersArgs),
    Conformance(ConformanceArgs),
    /// Get tokens of a real authorization server, for a server of ours and one of the SDK for TypeScript
    ///
    /// The authorization server is the npm package oidc-provider; what it needs is installed below target/interop on first use.
    Authorization,
    /// Run the official test suite of JSON Schema with the validator of mcp-wire
    ///
    /// The suite is that of the Python package jsonschema, which pip downloads below target/interop on first use. All tests
    /// of draft-07 and 2020-12 are run, except for the optional ones of what is an annotation, such as `format`. A test is
    /// refused if its schema is, and the reasons are counted below the table. A wrong verdict is a failure.
    JsonSchemaSuite,
}

/// Run our server against the clients of every era's SDKs, and our client against their servers
///
/// The packages of an era are those in interop/eras/REVISION; they are installed below target/interop on first use, by npm
/// and pip. Every message that our side sends is checked by the official schema of the negotiated revision. The table goes to
/// standard output, what failed to standard error.
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
    /// Only rows that have this word in one of their columns
    #[arg(long, value_name = "WORD")]
    pub only: Option<String>,
    /// Run the clients of every era with the servers of every era instead, through `mcp-rev bridge` and without it
    ///
    /// Of the steps that both sides can take, as each does with a peer of its own era, those are counted that go well. What the
    /// bridge writes is checked by the official schema of the side that reads it.
    #[arg(long, conflicts_with = "json")]
    pub bridge: bool,
    /// Run our client with two of our servers behind `mcp-rev gateway` instead, and behind the gateways of others
    ///
    /// The table says what crosses each of them. Those of others are the packages in bench/load/gateways. What doesn't cross
    /// ours is a failure.
    #[arg(long, conflicts_with_all = ["bridge", "json", "markdown", "only", "revisions"])]
    pub gateways: bool,
    /// Print an array of JSON instead of the table
    #[arg(long)]
    pub json: bool,
    /// Write the table to this file too, as Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}

/// Run the official conformance suite with our server and our client
///
/// The suite and the Node that it wants are those of interop/conformance, where legs.yaml says what is run and
/// expected-failures-REVISION.yaml what may fail: whatever fails besides, and whatever doesn't fail any more, is a failure.
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
