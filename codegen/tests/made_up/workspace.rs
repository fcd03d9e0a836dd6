//! A workspace with the crates of a revision, in which a server and a client of ours are built.

use std::fs;
use std::path::Path;
use std::process::Command;

use mcp_codegen::generate;

use crate::revision::{MadeUp, copy, here, read};

/// The members of the workspace, for the revision, the two before it, and the program.
const MEMBERS: &str = r#"members = ["convert", "generated/*", "program", "runtime", "wire"]"#;

const PROGRAM: &str = r#"[package]
name = "program"
edition = "2024"

[dependencies]
futures-util.workspace = true
mcp-adapters = { workspace = true, features = ["since-2025-11-25"] }
mcp-runtime = { workspace = true, features = ["http-client", "http-server", "router", "stdio"] }
serde_json.workspace = true
tokio = { workspace = true, features = ["macros", "rt-multi-thread", "sync", "time", "net"] }
"#;

/// Generates the crates of a revision, and runs a server and a client there. Returns what they say to each other.
///
/// The directory stays, so that the next revision has less to build.
pub fn run(made_up: &MadeUp) -> String {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("made-up");
    drop(fs::remove_dir_all(root.join("schema")));
    let options = made_up.ingested(&root);
    generate(&options).unwrap_or_else(|error| panic!("{}: {error}", made_up.name));
    for directory in ["convert", "runtime", "wire"] {
        copy(&here("..").join(directory), &root.join(directory));
    }
    copy(&here("tests/made_up/program"), &root.join("program/src"));
    let manifest = read(&here("../Cargo.toml"));
    let lines = manifest.lines().map(|line| match line.split_once(" = ") {
        Some(("members", _)) => MEMBERS,
        _ => line,
    });
    let manifest = lines.collect::<Vec<_>>().join("\n");
    fs::write(root.join("Cargo.toml"), manifest).unwrap();
    fs::copy(here("../Cargo.lock"), root.join("Cargo.lock")).unwrap();
    fs::write(root.join("program/Cargo.toml"), PROGRAM).unwrap();
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(program)
        .args(["run", "--quiet", "--package", "program"])
        .current_dir(&root)
        .env("CARGO_TARGET_DIR", root.join("target"))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}{errors}", made_up.name);
    said
}
