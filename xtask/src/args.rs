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
    /// Lock the type names of the released revisions
    ///
    /// The names are written to schema/REVISION/names.yaml: the Rust path of each type, by its JSON Pointer in the
    /// schema. From then on, neither a later revision nor a correction changes them, and a change that would lose one is
    /// refused. Names of new types are added; the names of drafts aren't locked.
    Lock(SchemaArgs),
    Model(ModelArgs),
    /// Print the report of the conversions between adjacent revisions
    ///
    /// Automatic conversions are derived from the two schemas. Rules are in the adapt.yaml of the later revision. Values
    /// that the report lists as refused need a rule; without one, converting them is an error. The text is that of
    /// generated/mcp-adapters/ADAPTERS.md.
    Adapters(SchemaArgs),
    Diff(DiffArgs),
    Jsonld(JsonldArgs),
    Publish(PublishArgs),
    Upstream(UpstreamArgs),
    Report(ReportArgs),
    /// Test whether schemas are absorbed without code changes: drafts, and made-up ones
    Absorb(ForwardedArgs),
    /// Run our server and client against the SDKs of every revision's era
    Interop(ForwardedArgs),
    /// Run the conformance suite against our server and client
    Conformance(ForwardedArgs),
    /// Get tokens from a real authorization server
    Authorization(ForwardedArgs),
    /// Measure this project and other implementations, and write docs/benchmarks.md
    Bench(ForwardedArgs),
    /// Run the official test suite of JSON Schema with our validator
    JsonSchemaSuite(ForwardedArgs),
}

/// Arguments of another program.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct ForwardedArgs {
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
/// The schema of an extension is written to schema/extensions/NAME/REVISION/schema.json. REVISION is then the
/// extension's own version; it defaults to that of --of.
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
    /// Only write the overlay that the new revision inherits, to add corrections before it is ingested
    #[arg(long)]
    pub overlay: bool,
    /// The schema is that of the extension with this id
    #[arg(long, value_name = "ID", requires = "of", conflicts_with_all = ["after", "before", "overlay"])]
    pub extension: Option<String>,
    /// The revision that the extension extends
    #[arg(long, value_name = "REVISION", requires = "extension")]
    pub of: Option<Revision>,
    /// The schema was written by hand from the extension's text, because none is published with it
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
/// Its folder, its entry in revisions.yaml and every YAML file in schema/ that names it get the new name: addresses of
/// the specification, comments, and protocol versions that are the same as the name. The order of the revisions, the
/// source that the schema was read from and the official schema stay. The changed files are printed with the number of
/// places; review them before you commit. If the new name is taken, or a file can't be written, no file changes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  cargo xtask rename draft 2099-01-01
  cargo xtask ingest 2099-01-01 https://example.org/2099-01-01/schema.json --released --accept
  cargo xtask generate                                    # removes the crate of the old name")]
pub struct RenameArgs {
    /// The current name of the revision
    pub from: Revision,
    /// The new name
    pub to: Revision,
    #[command(flatten)]
    pub schema: SchemaArgs,
}

/// Remove a revision
///
/// Its folder in schema/ and its entry in revisions.yaml are removed. The rules of the next revision then apply between
/// it and the previous one. Warnings on standard error list what to review: those rules, the lines that still name the
/// revision, the facts that came from it, and each problem that `generate` would report. The revision that
/// revisions.yaml names as the hub can't be withdrawn. If a file can't be written, no file changes.
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
/// A folder in schema/ with its own revisions.yaml, such as schema/registry, is another family, whose crates are
/// written too. The crate of a removed revision is removed. Files in generated crates that weren't generated are kept
/// and listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask generate
  cargo xtask generate --check                            # for CI: writes nothing, lists stale files
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

/// Print the model of a revision as YAML
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask model 2099-01-01 | less")]
pub struct ModelArgs {
    /// The name of the revision
    pub revision: Revision,
    #[command(flatten)]
    pub schema: SchemaArgs,
}

/// Print what changed between two revisions, or two schemas
///
/// Each change is classified as additive, cosmetic, or breaking for senders or receivers, and is listed with the
/// conversions of the adapters. The changes between adjacent revisions are also in docs/changes.
///
/// A path is that of a schema which isn't ingested, such as the official file. It is read as `ingest` would read it
/// after the other revision, or after the last one if both are paths: without prose, with the facts of that revision,
/// and with the overlay.yaml next to the file or, if there is none, with the entries of that revision's overlay that
/// fit.
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
    /// The format of the changes
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
/// The files are context.jsonld and schema.yaml, in the form of OGC building blocks.
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
/// All publishable crates are listed in the order of their dependencies, with the versions that their changes since the
/// last release require, and whether their names are free in the registry. Those that have changed are packaged, and
/// compiled from the packages as they would be from the registry. An entry for CHANGELOG.md is drafted.
///
/// Crates are published one after the other, each when the index has its dependencies. If the registry limits the
/// number of new crates, the command waits. Run it again to continue an interrupted release.
///
/// The API of a crate is compared by cargo-semver-checks if it is installed (`cargo install cargo-semver-checks
/// --locked`). Without it, generated crates are compared by the models of their schemas, and any change of another
/// library counts as breaking.
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
    /// Publish nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Publish the crates whose versions aren't in the registry, with the token in CARGO_REGISTRY_TOKEN, if there are
    /// no problems
    #[arg(long)]
    pub execute: bool,
    /// Yank the versions in the manifests, so that no new project depends on them
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
    /// The format of the report
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

/// Compare the official schemas and the packages that this project uses with the latest ones
///
/// The official schemas, the draft, the extensions, and the SDKs, test suites and crates that we test or measure with
/// are listed in xtask/upstream.yaml. Versions are read with the clients of the registries: npm, pip and cargo. The
/// exit status is 1 if something has changed, or couldn't be read.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask upstream
  cargo xtask upstream --from downloads --format markdown   # without the network")]
pub struct UpstreamArgs {
    /// A folder to read instead of the network: a file for each URL, at the path after `://`, and one with the version
    /// of each package, such as npm/NAME
    #[arg(long, value_name = "DIR")]
    pub from: Option<PathBuf>,
    /// The sources [default: xtask/upstream.yaml of this workspace]
    #[arg(long, value_name = "FILE")]
    pub manifest: Option<PathBuf>,
    /// The format of the report
    #[arg(long, value_enum, default_value_t)]
    pub format: UpstreamFormat,
    #[command(flatten)]
    pub schema: SchemaArgs,
}

/// Write a page about the generated code: its sources, its size, and test results
///
/// The page has the number of lines of each layer, the time to generate all crates, and the number of entries that add
/// what the schemas don't define. With --run, it also has the results of absorbing the latest schema, of the
/// conformance suite and of the interop tests.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask report
  cargo xtask report --run --out report.md                # some minutes; needs Node and Python")]
pub struct ReportArgs {
    /// Absorb the latest schema, and run the conformance suite and the interop tests
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
    /// Whether a directory was given, instead of the default one of this workspace.
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
