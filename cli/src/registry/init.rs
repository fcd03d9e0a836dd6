//! `mcp-rev registry init`

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use mcp_registry_types::Revision;
use mcp_registry_types::hub::{Package, Repository, ServerDetail, StdioTransport};
use mcp_registry_types::mcp_wire::{self, Map, RawJson};
use serde::Deserialize;

use super::document::{Document, address};
use super::pretty::pretty;
use super::readme::missing_name;
use super::validate::{beside, print, problems};
use crate::args::{Format, InitArgs};
use crate::error::{CommandError, Summary};
use crate::text::say;

/// The order in which the members are written.
const ORDER: [&str; 7] = [
    "$schema",
    "name",
    "description",
    "repository",
    "version",
    "websiteUrl",
    "packages",
];

/// A workspace in the output of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Crate>,
}

/// A crate in the output of `cargo metadata`.
#[derive(Deserialize)]
struct Crate {
    name: String,
    version: String,
    description: Option<String>,
    repository: Option<String>,
    homepage: Option<String>,
    readme: Option<PathBuf>,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

/// Writes the `server.json` of a crate.
pub fn run(args: &InitArgs, mut output: impl Write) -> Result<Summary, CommandError> {
    let project = chosen(args)?;
    let folder = project.manifest_path.parent().unwrap_or(Path::new("."));
    let file = match &args.output {
        Some(file) => file.clone(),
        // The path is printed in the form in which the user wrote that of the manifest.
        None if same(&args.manifest, &project.manifest_path) => args.manifest.with_file_name("server.json"),
        None => folder.join("server.json"),
    };
    let server = server(&project, args.name.as_deref())?;
    let name = server.name.clone();
    let json = ordered(&server).map_err(|error| CommandError::Argument(error.to_string()))?;
    write_new(&file, &pretty(&json), args.force).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => CommandError::file(&file, "there is such a file; --force replaces it"),
        _ => CommandError::file(&file, error),
    })?;
    writeln!(output, "wrote {}", file.display())?;
    let readme = match &project.readme {
        Some(readme) => folder.join(readme),
        None => beside(&project.manifest_path),
    };
    if let Some(next) = missing_name(&fs::read_to_string(readme).unwrap_or_default(), &name) {
        say(&format!("next: {next}"));
    }
    let mut kinds = project.targets.iter().flat_map(|target| &target.kind);
    if !kinds.any(|kind| kind == "bin") {
        say(&format!(
            "next: {} has no program, so nobody can install a server from it",
            project.name
        ));
    }
    let document = Document::read(&file)?;
    match problems(&document) {
        found if found.is_empty() => {
            output.flush()?;
            Ok(Summary::AllSucceeded)
        }
        found => print(&file, &document, &found, Format::Text, output),
    }
}

/// The crate that the arguments select.
fn chosen(args: &InitArgs) -> Result<Crate, CommandError> {
    let mut crates = metadata(&args.manifest)?.packages;
    let names = || crates.iter().map(|known| known.name.clone()).collect::<Vec<_>>();
    let at = match &args.package {
        Some(name) => crates.iter().position(|known| known.name == *name),
        None if crates.len() == 1 => Some(0),
        None => crates
            .iter()
            .position(|known| same(&known.manifest_path, &args.manifest)),
    };
    match (at, &args.package) {
        (Some(at), _) => Ok(crates.swap_remove(at)),
        (None, Some(name)) => Err(CommandError::UnknownCrate {
            name: name.clone(),
            known: names(),
        }),
        (None, None) => Err(CommandError::Argument(format!(
            "the workspace has several crates; --package chooses one of {}",
            names().join(", ")
        ))),
    }
}

/// Whether two paths refer to the same file.
fn same(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(|path| fs::canonicalize(path).ok());
    one.is_some() && one == other
}

fn metadata(manifest: &Path) -> Result<Metadata, CommandError> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args([
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version",
        "1",
        "--manifest-path",
    ]);
    let failed = |reason: String| CommandError::file(manifest, format!("cargo can't read it: {}", reason.trim()));
    let done = command
        .arg(manifest)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !done.status.success() {
        return Err(failed(String::from_utf8_lossy(&done.stderr).into_owned()));
    }
    serde_json::from_slice(&done.stdout).map_err(|error| failed(error.to_string()))
}

/// Makes the document of a crate, in the newest schema version.
fn server(project: &Crate, name: Option<&str>) -> Result<ServerDetail, CommandError> {
    let repository = project.repository.as_deref().and_then(hosted);
    let from_repository = || {
        let path = repository.as_ref()?.url.strip_prefix("https://github.com/")?;
        Some(format!("io.github.{}/{}", path.split('/').next()?, project.name))
    };
    let name = name.map(str::to_owned).or_else(from_repository).ok_or_else(|| {
        let what = "the crate has no `repository` on GitHub to name the server after; --name names it, as in com.example/weather";
        CommandError::Argument(what.to_owned())
    })?;
    let package = Package::new(&project.name, "cargo", StdioTransport::default()).with_version(&project.version);
    let description = project.description.as_deref().unwrap_or_default();
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut server = ServerDetail::new(description, name, &project.version)
        .with_schema(address(Revision::HUB))
        .with_packages(vec![package]);
    server.repository = repository;
    server.website_url = project.homepage.clone().filter(|page| page.starts_with("https://"));
    Ok(server)
}

/// Encodes a document, with its members in [`ORDER`].
fn ordered(server: &ServerDetail) -> Result<String, Box<dyn std::error::Error>> {
    let members: Map<RawJson> = mcp_wire::from_str(&mcp_wire::to_string(server)?)?;
    let members = ORDER
        .iter()
        .filter_map(|name| Some(format!("{name:?}:{}", members.get(name)?.text())));
    Ok(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
}

/// The repository, if it is on one of the hosts that the registry supports.
fn hosted(url: &str) -> Option<Repository> {
    let url = url.trim_end_matches('/').trim_end_matches(".git");
    let hosts = [("https://github.com/", "github"), ("https://gitlab.com/", "gitlab")];
    let (_, source) = hosts.into_iter().find(|(host, _)| url.starts_with(host))?;
    Some(Repository::new(source, url))
}

fn write_new(file: &Path, text: &str, replace: bool) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options
        .write(true)
        .create(replace)
        .truncate(replace)
        .create_new(!replace);
    options.open(file)?.write_all(text.as_bytes())
}
