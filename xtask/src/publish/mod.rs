//! `cargo xtask publish`

mod command;
mod registry;
mod release;
mod render;
mod workspace;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::IsTerminal;
use std::path::Path;
use std::process::Stdio;

use serde::Serialize;
use tempfile::TempDir;

use self::command::{cargo, git, output, read};
use self::registry::{NameStatus, name_status};
use self::release::{Release, releases};
use self::workspace::{Package, packages};
use crate::args::{PublishArgs, PublishFormat, in_workspace};
use crate::print::{print, status};

/// Where cargo takes the registry's token from. Nothing else is read for one.
const TOKEN: &str = "CARGO_REGISTRY_TOKEN";

/// What would be published, in order, and what is in the way.
#[derive(Debug, Serialize)]
struct Report {
    /// The tag that was compared with.
    since: Option<String>,
    crates: Vec<Release>,
    /// What the registry says of each name.
    names: BTreeMap<String, NameStatus>,
    /// Whether the packages of the crates were made, and whether they were compiled too.
    packaged: bool,
    verified: bool,
    /// A draft for CHANGELOG.md.
    changelog: String,
    /// What has to be done first.
    problems: Vec<String>,
}

pub fn run(args: &PublishArgs) -> Result<(), Box<dyn Error>> {
    let workspace = args.workspace.clone().unwrap_or_else(|| in_workspace("."));
    // Commands run in other directories.
    let workspace = workspace
        .canonicalize()
        .map_err(|error| format!("{}: {error}", workspace.display()))?;
    if args.execute {
        refuse_to_send(&workspace)?;
    }
    let packages = packages(&workspace)?;
    let since = match &args.since {
        Some(tag) => Some(tag.clone()),
        None => last_tag(&workspace),
    };
    progress("comparing with the last release");
    let crates = releases(&workspace, &packages, since.as_deref())?;
    let mut problems = problems_of_versions(&workspace, &packages, &crates);
    problems.extend(problems_of_names_lock(&workspace)?);
    progress("asking the registry for the names");
    let names = names(&crates, args.offline)?;
    let taken = crates
        .iter()
        .filter(|release| release.released.is_none() && names[&release.name] == NameStatus::Taken);
    problems.extend(taken.map(|release| format!("{}: the registry has a crate of this name", release.name)));
    let published: Vec<&str> = crates
        .iter()
        .filter(|release| release.is_published())
        .map(|release| release.name.as_str())
        .collect();
    let packaged = package(&workspace, &published, args);
    problems.extend(packaged.as_ref().err().map(ToString::to_string));
    let report = Report {
        changelog: render::changelog(&crates),
        since,
        crates,
        names,
        packaged: packaged.is_ok(),
        verified: packaged.is_ok() && !args.no_verify,
        problems,
    };
    print(match args.format {
        PublishFormat::Text => render::text(&report),
        PublishFormat::Json => serde_json::to_string_pretty(&report)? + "\n",
    })?;
    if !report.problems.is_empty() {
        return Err("nothing was sent: see the problems above".into());
    }
    if args.execute {
        send(&workspace, &report)
    } else {
        Ok(())
    }
}

/// What is published is what was committed, by who has a token.
fn refuse_to_send(workspace: &Path) -> Result<(), Box<dyn Error>> {
    if std::env::var_os(TOKEN).is_none_or(|token| token.is_empty()) {
        return Err(format!("nothing was sent: {TOKEN} isn't set").into());
    }
    let changed = read(git(workspace).args(["status", "--porcelain"]))?;
    match changed.is_empty() {
        true => Ok(()),
        false => Err(format!("nothing was sent: commit these files first:\n{}", changed.trim_end()).into()),
    }
}

fn last_tag(workspace: &Path) -> Option<String> {
    let tag = read(git(workspace).args(["describe", "--tags", "--abbrev=0"])).ok()?;
    Some(tag.trim().to_owned())
}

/// Versions that are too low for what has changed, and where to raise them.
fn problems_of_versions(workspace: &Path, packages: &[Package], crates: &[Release]) -> Vec<String> {
    let too_low = packages.iter().zip(crates).filter(|(_, release)| release.is_too_low());
    let problems = too_low.map(|(package, release)| {
        let manifest = package
            .manifest_path
            .strip_prefix(workspace)
            .unwrap_or(&package.manifest_path);
        let needed = release.needed.as_deref().unwrap_or_default();
        let step = match manifest.starts_with("generated") {
            true => format!(
                "add `{}: {needed}` to `versions` in schema/revisions.yaml",
                release.name
            ),
            false => format!("set `version = \"{needed}\"` in {}", manifest.display()),
        };
        format!(
            "{} {}: the changes need {needed}; {step}",
            release.name, release.version
        )
    });
    problems.collect()
}

/// Released revisions whose names aren't kept.
fn problems_of_names_lock(workspace: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let names = mcp_codegen::check_names(&workspace.join("schema"))?;
    let lacking = names.stale.iter().chain(&names.missing);
    Ok(lacking
        .map(|file| format!("schema/{}: it lacks names; run `cargo xtask lock`", file.display()))
        .collect())
}

fn names(crates: &[Release], offline: bool) -> Result<BTreeMap<String, NameStatus>, Box<dyn Error>> {
    let directory = TempDir::new()?;
    let status = |release: &Release| {
        Ok((
            release.name.clone(),
            name_status(&release.name, offline, directory.path())?,
        ))
    };
    crates.iter().map(status).collect()
}

/// Packs the crates, and compiles what was packed, each with the others' packages in place of the registry's.
fn package(workspace: &Path, names: &[&str], args: &PublishArgs) -> Result<(), Box<dyn Error>> {
    if names.is_empty() {
        return Ok(());
    }
    progress("packaging");
    let mut command = cargo();
    command.args(["package", "--allow-dirty"]).current_dir(workspace);
    command.args(names.iter().flat_map(|name| ["--package", name]));
    command.args(args.no_verify.then_some("--no-verify"));
    command.args(args.offline.then_some("--offline"));
    if std::io::stderr().is_terminal() {
        let status = command.stderr(Stdio::inherit()).status()?;
        return if status.success() {
            Ok(())
        } else {
            Err("cargo package failed".into())
        };
    }
    read(&mut command).map(|_| ())
}

/// Publishes the crates, each after those that it needs.
fn send(workspace: &Path, report: &Report) -> Result<(), Box<dyn Error>> {
    let published = report.crates.iter().filter(|release| release.is_published());
    let published = published.flat_map(|release| ["--package", &release.name]);
    let sent = output(
        cargo()
            .arg("publish")
            .args(published)
            .current_dir(workspace)
            .stderr(Stdio::inherit()),
    )?;
    if sent.status.success() {
        Ok(())
    } else {
        Err("cargo publish failed".into())
    }
}

/// Says what takes a while, to who waits for it.
fn progress(what: &str) {
    if std::io::stderr().is_terminal() {
        status(what);
    }
}
