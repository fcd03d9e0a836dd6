//! The command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};
use mcp_codegen::load::Revision;

/// The commands of this workspace: ingest official schemas, generate crates, run the tests with other implementations.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    after_help = "Exit status: 0 done, 1 problems found or files stale, 2 misuse."
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Ingest(IngestArgs),
    Rename(RenameArgs),
    Withdraw(WithdrawArgs),
    Generate(GenerateArgs),
    Lock(LockArgs),
    Model(ModelArgs),
    Adapters(AdaptersArgs),
    Diff(DiffArgs),
    Jsonld(JsonldArgs),
    Publish(PublishArgs),
    Upstream(UpstreamArgs),
    Report(ReportArgs),
    /// Try whether schemas are absorbed: drafts, and made-up ones
    Absorb(PassedOn),
    /// Run our server and client against the SDKs of every revision's era
    Interop(PassedOn),
    /// Run the conformance suite against our server and client
    Conformance(PassedOn),
    /// Get tokens of a real authorization server
    Authorization(PassedOn),
    /// Measure beside other implementations and write docs/benchmarks.md
    Bench(PassedOn),
    /// Run the official test suite of JSON Schema with our validator
    JsonSchemaSuite(PassedOn),
}

/// Arguments of another program.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct PassedOn {
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

/// Ingest the official schema of a new or known revision, or of an extension
///
/// The schema is checked against the hashes in revisions.yaml, and for everything that the generator doesn't support. Then it is
/// written to schema/REVISION/schema.json without its prose, and recorded. If there are problems, all are reported and no file
/// changes.
///
/// An extension's goes to schema/extensions/NAME/REVISION/schema.json. Its REVISION is its own version, which is that of --of where it
/// isn't named.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "\
cargo xtask ingest [OPTIONS] <REVISION> <PATH-OR-URL>
       cargo xtask ingest [OPTIONS] --extension <ID> --of <REVISION> [REVISION] <PATH-OR-URL>",
    after_help = "\
Examples:
  cargo xtask ingest 2099-01-01 downloads/schema.json
  cargo xtask ingest 2099-01-01 https://example.org/2099-01-01/schema.json --commit 0123abc
  cargo xtask ingest 2099-01-01 schema.yaml --after 2098-01-01 --draft
  cargo xtask ingest 2099-01-01 schema.json --accept      # the official file has changed
  cargo xtask ingest --extension com.example/billing --of 2099-01-01 billing.json"
)]
pub struct IngestArgs {
    /// The name of the revision, such as its date, and the official schema.json or schema.yaml
    #[arg(required = true, num_args = 1..=2, value_names = ["REVISION", "PATH-OR-URL"])]
    pub revision_and_schema: Vec<String>,
    /// Record this commit of the source
    #[arg(long, value_name = "SHA")]
    pub commit: Option<String>,
    /// Record this address as the source instead of PATH-OR-URL
    #[arg(long, value_name = "URL")]
    pub source: Option<String>,
    /// Accept a schema whose hash isn't in revisions.yaml
    #[arg(long)]
    pub accept: bool,
    /// Keep the descriptions, for rustdoc in your own checkout
    #[arg(long)]
    pub keep_prose: bool,
    /// The revision is still a draft
    #[arg(long, conflicts_with = "released")]
    pub draft: bool,
    /// The revision is released, and no longer a draft
    #[arg(long)]
    pub released: bool,
    /// Insert the revision after this one instead of last
    #[arg(long, value_name = "REVISION", conflicts_with = "before")]
    pub after: Option<Revision>,
    /// Insert the revision before this one instead of last
    #[arg(long, value_name = "REVISION")]
    pub before: Option<Revision>,
    /// The schema is that of the extension with this id
    #[arg(long, value_name = "ID", requires = "of", conflicts_with_all = ["after", "before"])]
    pub extension: Option<String>,
    /// The revision that the extension extends
    #[arg(long, value_name = "REVISION", requires = "extension")]
    pub of: Option<Revision>,
    /// The schema was written after the extension's text, because none is published with it
    #[arg(long, requires = "extension")]
    pub unofficial: bool,
    /// The name of the extension's folder and crate [default: the last part of its id]
    #[arg(long, requires = "extension")]
    pub name: Option<String>,
    #[command(flatten)]
    pub schema: SchemaArgs,
}

/// Give a revision another name
///
/// Its folder, its entry in revisions.yaml and every YAML file in schema/ that names it get the new name: addresses of the specification,
/// comments, and versions on the wire that are the same as the name. The order of the revisions, the source that the schema was read from
/// and the official schema stay. The files are printed, each with the number of places; look at them before you commit. If there is
/// a revision of the new name, or a file can't be written, no file changes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  cargo xtask rename draft 2099-01-01
  cargo xtask ingest 2099-01-01 https://example.org/2099-01-01/schema.json --released --accept
  cargo xtask generate                                    # removes the crate of the old name")]
pub struct RenameArgs {
    /// The present name of the revision
    pub from: Revision,
    /// The new name
    pub to: Revision,
    #[command(flatten)]
    pub schema: SchemaArgs,
}

/// Remove a revision
///
/// Its folder in schema/ and its entry in revisions.yaml are removed. The rules of the revision after it are then about the revision before
/// it. What has to be looked at is printed to standard error as warnings: those rules, the lines that still name the revision, the facts
/// that came from it, and each problem that `generate` would report. The revision that handlers are written against can't be
/// withdrawn. If a file can't be written, none changes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  cargo xtask withdraw 2099-01-01
  cargo xtask generate                                    # removes the crate")]
pub struct WithdrawArgs {
    /// The name of the revision
    pub revision: Revision,
    #[command(flatten)]
    pub schema: SchemaArgs,
}

/// Write the crates of all revisions, docs/changes and docs/reference, and the lists of revisions in other files
///
/// The lists are the features of runtime/Cargo.toml, the table in README.md, and the pages in docs/SUMMARY.md.
///
/// A folder of the schemas that has a revisions.yaml of its own, such as schema/registry, is another family, whose crates are written too.
/// The crate of a revision that is gone is removed. Files in these crates that weren't generated are kept, and named.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask generate
  cargo xtask generate --check                            # for CI: writes nothing, names what is stale
  cargo xtask generate --schema try/schema --out try/out  # another tree")]
pub struct GenerateArgs {
    /// Write nothing; fail if a file is stale, missing or orphaned, or a released revision lacks documentation
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub schema: SchemaArgs,
    /// The directory that the crates are written to [default: generated/ of this workspace]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Keep the names of the released revisions' types
///
/// The names are written to schema/REVISION/names.yaml: the path of each type, by its place in the schema. From then on, neither a
/// later revision nor a correction changes them, and a change that would lose one is a problem. Names of new types are added; the names
/// of drafts aren't kept.
#[derive(Debug, clap::Args)]
pub struct LockArgs {
    #[command(flatten)]
    pub schema: SchemaArgs,
}

/// Print the model of a revision as YAML
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask model 2099-01-01 | less")]
pub struct ModelArgs {
    /// The name of the revision
    pub revision: Revision,
    #[command(flatten)]
    pub schema: SchemaArgs,
}

/// Print the report of the conversions between adjacent revisions
///
/// Automatic conversions are derived from the two schemas. Rules are in the adapt.yaml of the later revision. Refused values
/// need a rule, or are errors when they occur. The text is that of generated/mcp-adapters/ADAPTERS.md.
#[derive(Debug, clap::Args)]
pub struct AdaptersArgs {
    #[command(flatten)]
    pub schema: SchemaArgs,
}

/// Print what changed between two revisions, or two schemas
///
/// Each change is additive, cosmetic, or breaking for senders or receivers, and has what the adapters do beside it. What changed
/// between adjacent revisions is in docs/changes too.
///
/// A path is that of a schema which isn't ingested, such as the official file. It is read as `ingest` would read it after the other
/// revision, or after the last one where both are paths: without prose, with the facts of that revision, and with the overlay.yaml beside
/// the file, or else with what fits of that revision's overlay.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask diff 2098-01-01 2099-01-01
  cargo xtask diff 2099-01-01 downloads/draft.json       # a draft before it is ingested
  cargo xtask diff old.json new.json --format json")]
pub struct DiffArgs {
    /// The earlier revision, or the path of its schema
    #[arg(value_name = "REVISION-OR-PATH")]
    pub from: String,
    /// The later revision, or the path of its schema
    #[arg(value_name = "REVISION-OR-PATH")]
    pub to: String,
    /// How the changes are written
    #[arg(long, value_enum, default_value_t)]
    pub format: DiffFormat,
    #[command(flatten)]
    pub schema: SchemaArgs,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub enum DiffFormat {
    /// Tables for people
    #[default]
    Markdown,
    /// An object for programs
    Json,
}

/// Write the JSON-LD context of a revision, and its schema with the IRI of each member
///
/// The files are context.jsonld and schema.yaml, in the form of the building blocks of the OGC.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask jsonld 2099-01-01 --out site/2099-01-01")]
pub struct JsonldArgs {
    /// The name of the revision
    pub revision: Revision,
    /// The directory that the files are written to [default: target/jsonld/REVISION of this workspace]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pub schema: SchemaArgs,
}

/// Show what a release would publish, or publish it
///
/// All publishable crates are listed in the order of their dependencies, with the versions that they need for what has changed since
/// their last release, and whether their names are free in the registry. Those that have changed are packaged, and compiled from the
/// packages as they would be from the registry. An entry of CHANGELOG.md is drafted.
///
/// Crates are sent one after the other, each when the index has those that it needs. A registry that limits how many new crates it takes is
/// waited for. What was interrupted goes on when it is run again.
///
/// The API of a crate is compared by cargo-semver-checks if it is installed (`cargo install cargo-semver-checks --locked`). Without it,
/// generated crates are compared by the models of their schemas, and a change of another library is taken for a breaking one.
#[derive(Debug, clap::Args)]
#[command(
    group(clap::ArgGroup::new("mode").required(true).args(["dry_run", "execute", "yank"])),
    after_help = "\
Examples:
  cargo xtask publish --dry-run
  cargo xtask publish --dry-run --since v0.1.0 --format json
  CARGO_REGISTRY_TOKEN=… cargo xtask publish --execute
  CARGO_REGISTRY_TOKEN=… cargo xtask publish --yank"
)]
pub struct PublishArgs {
    /// Send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Send the crates whose versions aren't out to the registry, with the token in CARGO_REGISTRY_TOKEN, if there are no problems
    #[arg(long)]
    pub execute: bool,
    /// Keep others from starting to use the versions in the manifests
    #[arg(long)]
    pub yank: bool,
    /// The registry, by its name in cargo's configuration [default: cargo's]
    #[arg(long, value_name = "NAME")]
    pub registry: Option<String>,
    /// The tag of the last release [default: the latest tag before HEAD]
    #[arg(long, value_name = "TAG")]
    pub since: Option<String>,
    /// Don't compile the packages
    #[arg(long, requires = "dry_run")]
    pub no_verify: bool,
    /// Don't use the network; names aren't checked then
    #[arg(long, requires = "dry_run")]
    pub offline: bool,
    /// The directory of the workspace [default: this workspace]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t)]
    pub format: PublishFormat,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub enum PublishFormat {
    /// Lines for people
    #[default]
    Text,
    /// An object for programs
    Json,
}

/// Compare what this project has of others with what is out
///
/// The official schemas, the draft, the extensions, and the versions of SDKs, test suites and crates that we run beside ours are listed in
/// xtask/upstream.yaml. Versions are asked of the registries by their own clients: npm, pip and cargo. The status is 1 if something
/// has changed, or couldn't be read.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask upstream
  cargo xtask upstream --from downloads --format markdown   # without the network")]
pub struct UpstreamArgs {
    /// A folder that stands for the network: a file for each address, by what is after `://`, and one with the version of each package, such as
    /// npm/NAME
    #[arg(long, value_name = "DIR")]
    pub from: Option<PathBuf>,
    /// The sources [default: xtask/upstream.yaml of this workspace]
    #[arg(long, value_name = "FILE")]
    pub manifest: Option<PathBuf>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t)]
    pub format: UpstreamFormat,
    #[command(flatten)]
    pub schema: SchemaArgs,
}

/// Write a page of what is generated, from what, and what that is worth
///
/// It has the lines of each layer, how long it takes to generate all crates, and how many entries beside the schemas say what those don't. With
/// --run, it has the results of the conformance suite and of the interop tests too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask report
  cargo xtask report --run --out report.md                # some minutes; needs Node and Python")]
pub struct ReportArgs {
    /// Run the conformance suite and the interop tests
    #[arg(long)]
    pub run: bool,
    /// Write the page to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub enum UpstreamFormat {
    /// Lines for people
    #[default]
    Text,
    /// Tables, such as for a pull request
    Markdown,
    /// An array for programs
    Json,
}

#[derive(Debug, clap::Args)]
pub struct SchemaArgs {
    /// The directory of revisions.yaml and the schemas [default: schema/ of this workspace]
    #[arg(long = "schema", value_name = "DIR", id = "schema_dir")]
    directory: Option<PathBuf>,
}

impl SchemaArgs {
    /// Whether the directory was given, instead of the one of this workspace.
    pub fn is_given(&self) -> bool {
        self.directory.is_some()
    }

    pub fn directory(&self) -> PathBuf {
        self.directory.clone().unwrap_or_else(|| in_workspace("schema"))
    }
}

impl JsonldArgs {
    pub fn out(&self) -> PathBuf {
        let usual = || in_workspace("target").join("jsonld").join(self.revision.as_str());
        self.out.clone().unwrap_or_else(usual)
    }
}

impl GenerateArgs {
    pub fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| in_workspace("generated"))
    }
}

/// A directory of this workspace, relative to the current directory, so that the file names in problems are short.
pub fn in_workspace(directory: &str) -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = manifest.parent().unwrap_or(manifest).join(directory);
    let here = std::env::current_dir().unwrap_or_default();
    match path.strip_prefix(here) {
        // An empty path isn't a directory.
        Ok(relative) if relative.as_os_str().is_empty() => PathBuf::from("."),
        Ok(relative) => relative.to_path_buf(),
        Err(_) => path,
    }
}
