//! `cargo xtask publish`

mod problems;
mod registry;
mod release;
mod render;
mod workspace;

use std::error::Error;
use std::io::IsTerminal;
use std::path::Path;
use std::process::Stdio;

use serde::Serialize;

use self::registry::{Published, Registry};
use self::release::{Release, releases};
use self::workspace::{Package, Workspace};
use crate::args::{PublishArgs, PublishFormat, in_workspace};
use crate::command::{git, read};
use crate::print::{print, status};

/// The crates to publish, in order, and the problems that prevent it.
#[derive(Debug, Serialize)]
struct Report {
    /// The tag of the release that the crates were compared with.
    since: Option<String>,
    crates: Vec<Release>,
    /// Whether the packages of the crates were made, and whether they were compiled too.
    packaged: bool,
    verified: bool,
    /// A draft for CHANGELOG.md.
    changelog: String,
    /// Problems that must be solved first.
    problems: Vec<String>,
}

pub fn run(args: &PublishArgs) -> Result<(), Box<dyn Error>> {
    let root = args.workspace.clone().unwrap_or_else(|| in_workspace("."));
    // Commands run in other directories.
    let root = root
        .canonicalize()
        .map_err(|error| format!("{}: {error}", root.display()))?;
    let registry = Registry::new(args.registry.clone())?;
    if !args.dry_run {
        refuse_to_send(&root, &registry)?;
    }
    let workspace = Workspace::read(&root)?;
    if args.yank {
        return yank(&workspace, &registry);
    }
    let since = args.since.clone().or_else(|| last_tag(&root));
    progress("comparing with the last release");
    let mut crates = releases(&root, &workspace.packages, since.as_deref())?;
    if !args.offline {
        progress("querying the registry");
        for (package, release) in workspace.packages.iter().zip(&mut crates) {
            release.published = registry.published(package)?;
        }
    }
    let mut problems = problems::find(&root, &workspace, &crates, &registry)?;
    let all = workspace.packages.iter().zip(&crates);
    let pending: Vec<&Package> = all
        .filter_map(|(package, release)| release.is_pending().then_some(package))
        .collect();
    let packaged = package(&root, &pending, &registry, args);
    problems.extend(packaged.as_ref().err().map(ToString::to_string));
    let report = Report {
        changelog: render::changelog(&crates),
        since,
        packaged: packaged.is_ok(),
        verified: packaged.is_ok() && !args.no_verify,
        problems,
        crates,
    };
    print(match args.format {
        PublishFormat::Text => render::text(&report),
        PublishFormat::Json => serde_json::to_string_pretty(&report)? + "\n",
    })?;
    if !report.problems.is_empty() {
        return Err("nothing was published: see the problems above".into());
    }
    match args.execute {
        true => send(&pending, workspace.owners(), &registry),
        false => Ok(()),
    }
}

/// Fails without a token or with uncommitted changes.
fn refuse_to_send(root: &Path, registry: &Registry) -> Result<(), Box<dyn Error>> {
    if !registry.has_token() {
        return Err(format!("nothing was published: {} isn't set", registry.token()).into());
    }
    let changed = read(git(root).args(["status", "--porcelain"]))?;
    match changed.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "nothing was published: commit these files first:\n{}",
            changed.trim_end()
        )
        .into()),
    }
}

fn last_tag(root: &Path) -> Option<String> {
    let tag = read(git(root).args(["describe", "--tags", "--abbrev=0"])).ok()?;
    Some(tag.trim().to_owned())
}

/// Packages the crates, and compiles the packages, each with the others' packages in place of the registry's.
fn package(root: &Path, packages: &[&Package], registry: &Registry, args: &PublishArgs) -> Result<(), Box<dyn Error>> {
    if packages.is_empty() {
        return Ok(());
    }
    progress("packaging");
    let mut command = registry.cargo(&["package", "--allow-dirty"]);
    command.current_dir(root);
    command.args(packages.iter().flat_map(|package| ["--package", &package.name]));
    command.args(args.no_verify.then_some("--no-verify"));
    command.args(args.offline.then_some("--offline"));
    if std::io::stderr().is_terminal() {
        let status = command.stderr(Stdio::inherit()).status()?;
        return status.success().then_some(()).ok_or("cargo package failed".into());
    }
    read(&mut command).map(|_| ())
}

/// Publishes the crates, each after its dependencies. Another run continues an interrupted one, because a published
/// crate isn't pending.
fn send(packages: &[&Package], owners: &[String], registry: &Registry) -> Result<(), Box<dyn Error>> {
    for (sent, package) in packages.iter().enumerate() {
        registry.publish(package)?;
        let known = registry.owners(&package.name)?;
        for owner in owners.iter().filter(|owner| !known.contains(owner)) {
            registry.add_owner(&package.name, owner)?;
        }
        let count = packages.len();
        status(format_args!(
            "{} of {count}: {} {} is published",
            sent + 1,
            package.name,
            package.version
        ));
    }
    Ok(())
}

/// Yanks the published versions in the manifests, each before its dependencies.
fn yank(workspace: &Workspace, registry: &Registry) -> Result<(), Box<dyn Error>> {
    for package in workspace.packages.iter().rev() {
        if registry.published(package)? == Published::Out {
            registry.yank(package)?;
            status(format_args!("{} {} is yanked", package.name, package.version));
        }
    }
    Ok(())
}

/// Prints the current step if standard error is a terminal.
fn progress(what: &str) {
    if std::io::stderr().is_terminal() {
        status(what);
    }
}
