//! The arguments of `generate`.

use std::path::PathBuf;

use clap::ArgGroup;
use mcp_adapters::Revision;
use mcp_codegen::load::Revision as Version;

use super::revision;

/// Generate code from the definitions of a revision, or of an extension
///
/// TypeScript is one module: a type for each definition, documented, constants for the error codes, and the types of the requests,
/// results and notifications by method. What a type can't say, such as the bounds of a number, is left out.
///
/// An extension is a folder with its schema.json, and with an overlay.yaml, a docs.yaml and a names.yaml if it needs them. What comes out is a
/// crate of types, named mcp-ext-NAME, which depends on the published crates. --schemas names the schemas of the protocol: the directory
/// `schema` of the repository of mcp-rev.
#[derive(Debug, clap::Args)]
#[command(
    group = ArgGroup::new("what").required(true).args(["typescript", "extension"]),
    after_help = "\
Examples:
  mcp-rev generate --typescript 2026-07-28 > mcp.ts
  mcp-rev generate --extension com.example/billing --of 2026-07-28 billing/ --schemas mcp-revisions/schema --out crates"
)]
pub struct GenerateArgs {
    /// Print the definitions of this revision in TypeScript
    #[arg(long, value_name = "REVISION", value_parser = revision())]
    pub typescript: Option<Revision>,
    #[command(flatten)]
    pub extension: ExtensionArgs,
}

/// An extension.
#[derive(Debug, clap::Args)]
pub struct ExtensionArgs {
    /// Write the crate of the extension with this id
    #[arg(long = "extension", id = "extension", value_name = "ID", requires_all = ["of", "folder", "out", "schemas"])]
    pub id: Option<String>,
    /// The revision that it extends
    #[arg(long, value_name = "REVISION", requires = "extension")]
    pub of: Option<Version>,
    /// The extension's own version [default: that of --of]
    #[arg(long = "revision", value_name = "VERSION", requires = "extension")]
    pub version: Option<Version>,
    /// The end of the crate's name [default: the last part of the id]
    #[arg(long, requires = "extension")]
    pub name: Option<String>,
    /// Where the extension is described, for links in the documentation
    #[arg(long, value_name = "URL", requires = "extension")]
    pub link: Option<String>,
    /// The folder of its files
    #[arg(requires = "extension")]
    pub folder: Option<PathBuf>,
    /// Write the crate below this directory
    #[arg(long, value_name = "DIR", requires = "extension")]
    pub out: Option<PathBuf>,
    /// Write nothing, and fail if the crate isn't what would be written
    #[arg(long, requires = "extension")]
    pub check: bool,
}
