//! Problems that prevent a release.

use std::error::Error;
use std::path::Path;

use super::registry::{Published, Registry};
use super::release::Release;
use super::workspace::{Package, Workspace};

pub fn find(
    root: &Path,
    workspace: &Workspace,
    crates: &[Release],
    registry: &Registry,
) -> Result<Vec<String>, Box<dyn Error>> {
    let mut problems = unset(workspace);
    for (package, release) in workspace.packages.iter().zip(crates) {
        problems.extend(version(root, package, release));
        if package.is_unstable() && !package.version.starts_with("0.") {
            let (name, version) = (&package.name, &package.version);
            problems.push(format!("{name} {version}: a crate of a draft stays below 1.0.0"));
        }
        problems.extend(name(workspace, release, registry)?);
    }
    problems.extend(names_lock(root)?);
    Ok(problems)
}

/// Missing values that only the maintainers can set.
fn unset(workspace: &Workspace) -> Vec<String> {
    let is_unset = |value: &Option<String>| value.as_ref().is_none_or(String::is_empty);
    let mut problems = Vec::new();
    if workspace.packages.iter().any(|package| is_unset(&package.repository)) {
        problems.push("Cargo.toml: set `repository` under `[workspace.package]`, and regenerate".to_owned());
    }
    if workspace.owners().is_empty() {
        problems.push("Cargo.toml: set `owners` under `[workspace.metadata.release]`".to_owned());
    }
    problems
}

/// A version that is too low for what has changed, and where to raise it.
fn version(root: &Path, package: &Package, release: &Release) -> Option<String> {
    let needed = release.needed.as_ref().filter(|_| release.is_too_low())?;
    let manifest = &package.manifest_path;
    let manifest = manifest.strip_prefix(root).unwrap_or(manifest);
    let step = match manifest.starts_with("generated") {
        true => format!(
            "add `{}: {needed}` to `versions` in schema/revisions.yaml",
            release.name
        ),
        false => format!("set `version = \"{needed}\"` in {}", manifest.display()),
    };
    Some(format!(
        "{} {}: the changes need {needed}; {step}",
        release.name, release.version
    ))
}

/// A name that is owned by others, or that the registry reports nothing about.
fn name(workspace: &Workspace, release: &Release, registry: &Registry) -> Result<Option<String>, Box<dyn Error>> {
    let (name, owners) = (&release.name, workspace.owners());
    Ok(match release.published {
        Published::Taken | Published::Out if registry.has_token() => {
            let others = registry.owners(name)?;
            let is_ours = others.iter().any(|other| owners.contains(other));
            (!is_ours).then(|| {
                format!(
                    "{name}: the registry has a crate of this name, owned by {}",
                    others.join(", ")
                )
            })
        }
        Published::Unknown if registry.has_token() => {
            Some(format!("{name}: the registry doesn't report whether it is published"))
        }
        Published::Taken if release.released.is_none() => {
            Some(format!("{name}: the registry has a crate of this name"))
        }
        _ => None,
    })
}

/// Released revisions whose names aren't locked.
fn names_lock(root: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let names = mcp_codegen::lock_names(&root.join("schema"), true)?;
    let lacking = names.stale.iter().chain(&names.missing);
    Ok(lacking
        .map(|file| format!("schema/{}: it lacks names; run `cargo xtask lock`", file.display()))
        .collect())
}
