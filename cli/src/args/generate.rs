//! The arguments of `generate`.

use mcp_adapters::Revision;

use super::revision;

/// Generate code from the definitions of a revision
///
/// TypeScript is one module: a type for each definition, documented, constants for the error codes, and the types of the requests,
/// results and notifications by method. What a type can't say, such as the bounds of a number, is left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mcp-rev generate --typescript 2026-07-28 > mcp.ts")]
pub struct GenerateArgs {
    /// Print the definitions of this revision in TypeScript
    #[arg(long, required = true, value_name = "REVISION", value_parser = revision())]
    pub typescript: Revision,
}
