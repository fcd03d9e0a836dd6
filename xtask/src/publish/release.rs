//! The version bump of each crate, from the changes since its release.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;

use mcp_codegen::load::families;
use mcp_codegen::release::{Bump, CrateChange, compare_schemas, next_version};
use serde::Serialize;
use tempfile::TempDir;

use super::registry::Published;
use super::workspace::{Package, Workspace};
use crate::command::{cargo, git, output, read};

/// The command that installs cargo-semver-checks, which compares the API of libraries.
pub const INSTALL: &str = "cargo install cargo-semver-checks --locked";

/// The planned release of a crate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Release {
    pub name: String,
    /// The version in its manifest.
    pub version: String,
    /// The version at the tag; `None` for a crate that is new since then.
    pub released: Option<String>,
    /// The changes since the tag.
    #[serde(flatten)]
    pub change: CrateChange,
    /// The version that the changes require; `None` if nothing has changed.
    pub needed: Option<String>,
    /// The state of its version in the registry.
    pub published: Published,
}

impl Release {
    /// Whether its version has to be published: the registry lacks it or, if that isn't known, something has changed.
    pub fn is_pending(&self) -> bool {
        match self.published {
            Published::Free | Published::Taken => true,
            Published::Out => false,
            Published::Unknown => self.needed.is_some(),
        }
    }

    /// Whether the manifest has a version that is too low.
    pub fn is_too_low(&self) -> bool {
        let numbers =
            |version: &str| -> Vec<u32> { version.split('.').map_while(|number| number.parse().ok()).collect() };
        let needed = self.needed.as_deref();
        needed.is_some_and(|needed| numbers(&self.version) < numbers(needed))
    }
}

/// The workspace as it was at a tag.
struct Baseline {
    directory: TempDir,
    packages: Vec<Package>,
}

impl Baseline {
    fn of(workspace: &Path, tag: &str) -> Result<Self, Box<dyn Error>> {
        let directory = TempDir::new()?;
        // A separate clone leaves the index and the list of worktrees unchanged.
        read(
            git(workspace)
                .args(["clone", "--quiet", "--shared", "--no-checkout", "."])
                .arg(directory.path()),
        )?;
        read(git(directory.path()).args(["checkout", "--quiet", "--detach", tag, "--"]))?;
        let packages = Workspace::read(directory.path())?.packages;
        Ok(Self { directory, packages })
    }

    fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }
}

/// Plans the release of each crate, in the given order. Without a tag, all crates are new.
pub fn releases(workspace: &Path, packages: &[Package], since: Option<&str>) -> Result<Vec<Release>, Box<dyn Error>> {
    let Some(tag) = since else {
        return Ok(packages.iter().map(first_release).collect());
    };
    let baseline = Baseline::of(workspace, tag)?;
    let mut generated = BTreeMap::new();
    for schema in families(&workspace.join("schema")) {
        let before = baseline.directory.path().join(schema.strip_prefix(workspace)?);
        generated.extend(compare_schemas(&before, &schema)?);
    }
    let is_installed = is_semver_checks_installed();
    let mut breaking: BTreeSet<&str> = BTreeSet::new();
    let mut releases = Vec::new();
    for package in packages {
        let Some(released) = baseline.package(&package.name) else {
            releases.push(first_release(package));
            continue;
        };
        let mut change = if !has_changed(workspace, tag, package, packages)? {
            CrateChange::default()
        } else if is_installed && package.is_library() {
            let mut change = checked(package, released)?;
            if let Some(models) = generated.get(&package.name) {
                change.notes.extend_from_slice(&models.notes);
            }
            change
        } else if let Some(change) = generated.get(&package.name) {
            generated_change(change)
        } else {
            assumed(package)
        };
        for name in breaking.iter().filter(|name| package.needs(name)) {
            // The dependencies of a library are a part of its API.
            let bump = if package.is_library() { Bump::Major } else { Bump::Patch };
            change.bump = change.bump.max(Some(bump));
            change.notes.push(format!("Needs the new version of `{name}`."));
        }
        if change.bump == Some(Bump::Major) && !package.is_unstable() {
            breaking.insert(&package.name);
        }
        let needed = change
            .bump
            .map(|bump| next_version(&released.version, bump))
            .transpose()?;
        releases.push(Release {
            name: package.name.clone(),
            version: package.version.clone(),
            released: Some(released.version.clone()),
            change,
            needed,
            published: Published::Unknown,
        });
    }
    Ok(releases)
}

fn first_release(package: &Package) -> Release {
    let note = package.description.as_deref().unwrap_or("The first release");
    Release {
        name: package.name.clone(),
        version: package.version.clone(),
        released: None,
        change: CrateChange {
            bump: None,
            notes: vec![format!("{note}.")],
        },
        needed: Some(package.version.clone()),
        published: Published::Unknown,
    }
}

/// The change of the models. Different code from unchanged models is a patch.
fn generated_change(change: &CrateChange) -> CrateChange {
    let mut change = change.clone();
    if change.bump.is_none() {
        change.bump = Some(Bump::Patch);
        change
            .notes
            .push("The generated code has changed, and the schema has not.".to_owned());
    }
    change
}

/// The change that is assumed for hand-written code. Its API isn't compared, so a change of a library may be breaking.
fn assumed(package: &Package) -> CrateChange {
    let (bump, note) = match package.is_library() {
        true => (
            Bump::Major,
            format!("The code has changed. This counts as breaking; to compare the API, run `{INSTALL}`."),
        ),
        false => (Bump::Patch, "The code has changed.".to_owned()),
    };
    CrateChange {
        bump: Some(bump),
        notes: vec![note],
    }
}

/// Whether files of a crate differ from those at a tag. The files of nested crates don't count.
fn has_changed(workspace: &Path, tag: &str, package: &Package, packages: &[Package]) -> Result<bool, Box<dyn Error>> {
    let own = package.directory();
    let inside = packages
        .iter()
        .map(Package::directory)
        .filter(|other| *other != own && other.starts_with(own));
    let mut git = git(workspace);
    git.args(["diff", "--quiet", tag, "--"]).arg(own);
    git.args(inside.map(|other| format!(":(exclude){}", other.display())));
    Ok(!output(&mut git)?.status.success())
}

fn is_semver_checks_installed() -> bool {
    let version = output(cargo().args(["semver-checks", "--version"]));
    version.is_ok_and(|version| version.status.success())
}

/// The change that cargo-semver-checks reports.
fn checked(now: &Package, released: &Package) -> Result<CrateChange, Box<dyn Error>> {
    let answer = output(
        cargo()
            .args([
                "semver-checks",
                "check-release",
                "--color",
                "never",
                "--release-type",
                "patch",
                "--manifest-path",
            ])
            .arg(&now.manifest_path)
            .arg("--baseline-root")
            .arg(released.directory()),
    )?;
    let text = [answer.stdout, answer.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    match bump_of(answer.status.success(), &text) {
        Some(bump) => Ok(CrateChange {
            bump: Some(bump),
            notes: failures(&text),
        }),
        None => Err(format!(
            "cargo-semver-checks couldn't compare {}:\n{}",
            now.name,
            text.trim_end()
        )
        .into()),
    }
}

/// The bump that cargo-semver-checks requires.
fn bump_of(passed: bool, text: &str) -> Option<Bump> {
    match text {
        _ if passed => Some(Bump::Patch),
        text if text.contains("requires new major version") => Some(Bump::Major),
        text if text.contains("requires new minor version") => Some(Bump::Minor),
        _ => None,
    }
}

/// The findings of cargo-semver-checks, from lines such as `--- failure struct_missing: pub struct removed or renamed
/// ---`.
fn failures(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("--- failure ")?.strip_suffix(" ---"));
    let sentences = lines.filter_map(|line| line.split_once(": "));
    sentences.map(|(lint, what)| format!("{what} (`{lint}`).")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bump_is_read_from_the_summary_of_cargo_semver_checks() {
        let major = "--- failure struct_missing: pub struct removed or renamed ---\n\
                     Summary semver requires new major version: 1 major and 0 minor checks failed\n";
        assert_eq!(bump_of(false, major), Some(Bump::Major));
        assert_eq!(failures(major), ["pub struct removed or renamed (`struct_missing`)."]);
        let minor = "Summary semver requires new minor version: 0 major and 1 minor checks failed\n";
        assert_eq!(bump_of(false, minor), Some(Bump::Minor));
        assert_eq!(bump_of(true, "Summary no semver update required\n"), Some(Bump::Patch));
        assert_eq!(bump_of(false, "error: failed to build rustdoc\n"), None);
    }
}
