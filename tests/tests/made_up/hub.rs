//! A made-up revision as the hub: the crates that use the hub's types compile with it without changes.

use std::fs;
use std::path::Path;
use std::process::Command;

use mcp_adapters::Revision;
use mcp_codegen::generate;
use mcp_tests::made_up::{HUB, MADE_UP, copy, here, read};
use tempfile::TempDir;

/// Folders of the workspace that are copied: the runtime and the handwritten crates that it depends on.
const MEMBERS: [&str; 4] = ["convert", "json-schema", "runtime", "wire"];

/// The crates that use the hub's types.
const RUNTIME: [&str; 13] = [
    "mcp-runtime-apps",
    "mcp-runtime-auth",
    "mcp-runtime-bridge",
    "mcp-runtime-clients",
    "mcp-runtime-core",
    "mcp-runtime-gateway",
    "mcp-runtime-http",
    "mcp-runtime-local",
    "mcp-runtime-router",
    "mcp-runtime",
    "mcp-runtime-skills",
    "mcp-runtime-redis",
    "mcp-runtime-tasks",
];

/// Writes a copy of the workspace into `directory` in which the made-up revision is the hub. Keeps the directory's
/// `target` folder.
fn move_hub(directory: &Path) {
    let root = TempDir::new().unwrap();
    let options = HUB.ingested(root.path());
    let manifest = options.schema.join("revisions.yaml");
    let moved = read(&manifest).replace(&format!("hub: {}", Revision::HUB), &format!("hub: {MADE_UP}"));
    fs::write(manifest, moved).unwrap();
    generate(&options).unwrap_or_else(|error| panic!("{error}"));

    let own = fs::read_dir(directory).into_iter().flatten();
    for old in own
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("target"))
    {
        match old.is_dir() {
            true => fs::remove_dir_all(old).unwrap(),
            false => fs::remove_file(old).unwrap(),
        }
    }
    for member in MEMBERS {
        copy(&here("..").join(member), &directory.join(member));
    }
    copy(&options.out, &directory.join("generated"));
    fs::copy(here("../Cargo.lock"), directory.join("Cargo.lock")).unwrap();
    let manifest = read(&here("../Cargo.toml"));
    let members = manifest.lines().find(|line| line.starts_with("members = ")).unwrap();
    let kept = members.split('"').skip(1).step_by(2);
    let kept = kept.filter(|member| ["generated", "runtime"].contains(&member.split('/').next().unwrap()));
    let kept: Vec<&str> = kept.chain(["convert", "json-schema", "wire"]).collect();
    let manifest = manifest.replace(members, &format!("members = {kept:?}"));
    fs::write(directory.join("Cargo.toml"), manifest).unwrap();
}

#[test]
#[ignore = "takes two minutes without a cache of earlier builds"]
fn the_runtime_compiles_with_a_hub_that_renames_members_and_drops_a_feature() {
    let directory = here("../target/made-up-hub");
    move_hub(&directory);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["check", "--quiet", "--all-features", "--message-format=short"])
        .args(RUNTIME.iter().flat_map(|package| ["--package", package]))
        .current_dir(&directory)
        .env("CARGO_TARGET_DIR", directory.join("target"))
        .env("RUSTFLAGS", "-D warnings")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let errors = said.lines().filter(|line| line.contains(": error")).count();
    assert!(output.status.success(), "{errors} errors\n{said}");
}
