//! The arguments of `generate`.

use std::path::PathBuf;

use clap::ArgGroup;
use mcp_adapters::Revision;
use mcp_codegen::load::Revision as Version;

use super::revision;

/// Generate code from the definitions of a revision, or of an extension
///
/// The TypeScript is one module: a documented type for each definition, constants for the error codes, and the types of
/// the requests, results and notifications by method. What a type can't express, such as the bounds of a number, is
/// omitted.
///
/// An extension is a folder with a schema.json and, if needed, an overlay.yaml, a docs.yaml and a names.yaml. The
/// output is a crate of types, named mcp-ext-NAME, which depends on the published crates. --schemas is the directory
/// with the schemas of the protocol: `schema` in the repository of mcp-rev.
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
    /// The page that describes the extension, for links in the documentation
    #[arg(long, value_name = "URL", requires = "extension")]
    pub link: Option<String>,
    /// The folder with the files of the extension
    #[arg(requires = "extension")]
    pub folder: Option<PathBuf>,
    /// Write the crate below this directory
    #[arg(long, value_name = "DIR", requires = "extension")]
    pub out: Option<PathBuf>,
    /// Write nothing, and fail if the existing crate differs from the generated one
    #[arg(long, requires = "extension")]
    pub check: bool,
}
