//! The published packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcp_tests::workspace;
use serde_json::Value;

/// Runs cargo in the workspace, and returns its output.
fn cargo(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(args)
        .current_dir(workspace("."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns cargo's metadata of each package in the workspace.
fn packages() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let mut metadata: Value = serde_json::from_str(&metadata).unwrap();
    metadata["packages"].as_array_mut().map(std::mem::take).unwrap()
}

/// Returns the packages that aren't marked `publish = false`.
fn publishable() -> Vec<Value> {
    let mut packages = packages();
    packages.retain(|package| package["publish"].is_null());
    assert!(!packages.is_empty());
    packages
}

/// A library without unit tests has `test = false` in its manifest, which saves the time to compile it a second time.
#[test]
fn a_package_that_disables_its_unit_tests_has_none() {
    for package in packages() {
        let targets = package["targets"].as_array().unwrap().iter();
        for target in targets.filter(|target| target["test"] == false) {
            let root = Path::new(target["src_path"].as_str().unwrap());
            let is_alone = !(root.ends_with("lib.rs") || root.ends_with("main.rs"));
            let sources = if is_alone { root } else { root.parent().unwrap() };
            for file in files_below(sources) {
                let text = fs::read_to_string(&file).unwrap();
                let has_test = text.contains("#[test]") || text.contains("::test]") || text.contains("::test(");
                let file = file.display();
                assert!(
                    !has_test,
                    "{file} has a test, but the manifest of its package has `test = false`"
                );
            }
        }
    }
}

/// Returns the path itself if it is a Rust file, or all Rust files below it.
fn files_below(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        return Vec::from_iter(is_rust.then(|| path.to_owned()));
    }
    let entries = fs::read_dir(path).unwrap();
    entries.flat_map(|entry| files_below(&entry.unwrap().path())).collect()
}

#[test]
fn every_package_has_complete_metadata_and_the_licence_files() {
    for package in publishable() {
        let name = &package["name"];
        for member in ["description", "documentation", "license", "readme", "rust_version"] {
            assert!(package[member].is_string(), "{name} has no {member}");
        }
        for member in ["keywords", "categories"] {
            let count = package[member].as_array().unwrap().len();
            assert!((1..=5).contains(&count), "{name} has {count} {member}");
        }
        let kinds = package["targets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|target| &target["kind"][0]);
        let is_library = kinds.into_iter().any(|kind| kind == "lib");
        let all_features = &package["metadata"]["docs"]["rs"]["all-features"];
        assert_eq!(
            all_features == true,
            is_library,
            "{name}: docs.rs must document all features of a library"
        );
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        if is_library && !package["features"].as_object().unwrap().is_empty() {
            let library = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
            let badges = library.contains("#![cfg_attr(docsrs, feature(doc_cfg))]");
            assert!(
                badges,
                "{name}: its documentation doesn't show the feature that an item needs"
            );
        }
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let read = |path: &Path| fs::read_to_string(path.join(licence)).unwrap();
            assert_eq!(
                read(folder),
                read(&workspace(".")),
                "{name}: {licence} is not the workspace's"
            );
        }
    }
}

#[test]
fn a_published_package_depends_only_on_published_packages() {
    let packages = publishable();
    let published = |name: &Value| packages.iter().any(|package| package["name"] == *name);
    for package in &packages {
        for dependency in package["dependencies"].as_array().unwrap() {
            let ours = dependency["path"].is_string() && dependency["kind"] != "dev";
            let (name, wanted) = (&dependency["name"], &dependency["req"]);
            assert!(!ours || published(name), "{} needs {name}", package["name"]);
            assert!(
                !ours || wanted != "*",
                "{} needs {name} without a version",
                package["name"]
            );
        }
    }
}

#[test]
fn a_package_contains_only_expected_files() {
    let expected = |file: &str| {
        let folder = ["src/", "examples/", "schemas/", "tables/", "tests/", "templates/"]
            .iter()
            .any(|folder| file.starts_with(folder));
        let known = [
            ".cargo_vcs_info.json",
            "ADAPTERS.md",
            "Cargo.lock",
            "Cargo.toml",
            "Cargo.toml.orig",
            "core.json",
            "LICENSE-APACHE",
            "LICENSE-MIT",
            "README.md",
            "schema.json",
            "typescript.ts",
        ];
        folder || known.contains(&file)
    };
    for package in publishable() {
        let name = package["name"].as_str().unwrap();
        let files = cargo(&["package", "--list", "--offline", "--allow-dirty", "--package", name]);
        let junk: Vec<&str> = files
            .lines()
            .filter(|file| !expected(&file.replace('\\', "/")))
            .collect();
        assert!(junk.is_empty(), "{name}: {junk:?}");
        for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
            assert!(files.lines().any(|line| line == file), "{name} lacks {file}");
        }
    }
}
