//! The publishable crates of a workspace.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::command::{cargo, read};

/// A publishable crate.
#[derive(Debug, Clone, Deserialize)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub description: Option<String>,
    pub repository: Option<String>,
    pub manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
    /// The registries that it may be published to; `None` for all.
    publish: Option<Vec<String>>,
    metadata: Option<Metadata>,
}

#[derive(Debug, Clone, Deserialize)]
struct Dependency {
    name: String,
    /// `dev` or `build`; `None` for a normal dependency.
    kind: Option<String>,
    /// The version requirement; `*` for a dependency with only a path.
    req: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Target {
    kind: Vec<String>,
}

/// The publishable crates of a workspace, and the release settings of its manifest.
#[derive(Debug, Deserialize)]
pub struct Workspace {
    /// The crates, each after its dependencies.
    pub packages: Vec<Package>,
    metadata: Option<Metadata>,
}

#[derive(Debug, Clone, Deserialize)]
struct Metadata {
    #[serde(default)]
    release: ReleaseMetadata,
}

/// `[package.metadata.release]` or `[workspace.metadata.release]`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ReleaseMetadata {
    /// Of a package: whether any release may be breaking, as for the types of a draft.
    unstable: bool,
    /// Of the workspace: see [`Workspace::owners`].
    owners: Vec<String>,
}

impl Package {
    pub fn directory(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }

    pub fn is_library(&self) -> bool {
        self.targets
            .iter()
            .any(|target| target.kind.iter().any(|kind| kind == "lib"))
    }

    /// Whether any release may be breaking, without being breaking for the crates that depend on it.
    pub fn is_unstable(&self) -> bool {
        self.metadata.as_ref().is_some_and(|metadata| metadata.release.unstable)
    }

    /// Whether another crate is one of its normal dependencies.
    pub fn needs(&self, name: &str) -> bool {
        let mut dependencies = self.dependencies.iter();
        dependencies.any(|dependency| dependency.kind.is_none() && dependency.name == name)
    }

    /// Whether the registry accepts it only after another crate. Dev-dependencies count too, unless they have only a
    /// path.
    fn follows(&self, name: &str) -> bool {
        let mut dependencies = self.dependencies.iter();
        dependencies.any(|dependency| dependency.req != "*" && dependency.name == name)
    }
}

impl Workspace {
    /// Reads the manifests of a workspace.
    pub fn read(directory: &Path) -> Result<Self, Box<dyn Error>> {
        let manifest = directory.join("Cargo.toml");
        let args = [
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
            "--manifest-path",
        ];
        let mut workspace: Self = serde_json::from_str(&read(cargo().args(args).arg(manifest))?)?;
        let is_published = |package: &Package| package.publish.as_ref().is_none_or(|registries| !registries.is_empty());
        workspace.packages.retain(is_published);
        workspace.packages = in_order(workspace.packages)?;
        Ok(workspace)
    }

    /// The logins and teams that may publish the crates, as `cargo owner` accepts them.
    pub fn owners(&self) -> &[String] {
        self.metadata.as_ref().map_or(&[], |metadata| &metadata.release.owners)
    }
}

/// Sorts the crates by name, but each after those that it follows.
fn in_order(mut waiting: Vec<Package>) -> Result<Vec<Package>, Box<dyn Error>> {
    waiting.sort_by(|a, b| a.name.cmp(&b.name));
    let mut ordered: Vec<Package> = Vec::new();
    while !waiting.is_empty() {
        let names: BTreeSet<String> = waiting.iter().map(|package| package.name.clone()).collect();
        let is_ready = |package: &Package| !names.iter().any(|name| package.follows(name));
        let (ready, others): (Vec<_>, Vec<_>) = waiting.into_iter().partition(is_ready);
        if ready.is_empty() {
            return Err("the crates depend on each other in a cycle".into());
        }
        ordered.extend(ready);
        waiting = others;
    }
    Ok(ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, needs: &[&str]) -> Package {
        let dependency = |name: &&str| Dependency {
            name: (*name).to_owned(),
            kind: None,
            req: "^0.1.0".to_owned(),
        };
        Package {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            description: None,
            repository: None,
            manifest_path: PathBuf::new(),
            dependencies: needs.iter().map(dependency).collect(),
            targets: Vec::new(),
            publish: None,
            metadata: None,
        }
    }

    #[test]
    fn each_crate_comes_after_its_dependencies() {
        let packages = [
            package("a", &["c", "serde"]),
            package("b", &[]),
            package("c", &["b"]),
            package("d", &["b"]),
        ];
        let ordered = in_order(packages.to_vec()).unwrap();
        let names: Vec<&str> = ordered.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["b", "c", "d", "a"]);
        assert!(in_order(vec![package("a", &["b"]), package("b", &["a"])]).is_err());

        let tested = |req: &str| {
            let mut package = package("a", &["b"]);
            package.dependencies[0].kind = Some("dev".to_owned());
            package.dependencies[0].req = req.to_owned();
            package
        };
        for (req, expected) in [("^0.1.0", ["b", "a"]), ("*", ["a", "b"])] {
            let ordered = in_order(vec![tested(req), package("b", &[])]).unwrap();
            let names: Vec<&str> = ordered.iter().map(|package| package.name.as_str()).collect();
            assert_eq!(names, expected, "{req}");
        }
    }
}
