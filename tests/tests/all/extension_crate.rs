//! The generated crate of a vendor's extension, in a separate workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcp_codegen::ingest::ExtensionOptions;
use mcp_codegen::{ExtensionCrateOptions, generate_extension};
use tempfile::TempDir;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn options(out: &Path) -> ExtensionCrateOptions {
    ExtensionCrateOptions {
        schemas: here("../schema"),
        folder: here("extension/billing"),
        extension: ExtensionOptions {
            id: "com.example/billing".to_owned(),
            name: None,
            of: "2026-07-28".parse().unwrap(),
            official: true,
        },
        version: "2026-07-28".parse().unwrap(),
        link: None,
        out: out.to_owned(),
        check: false,
    }
}

#[test]
fn the_crate_uses_the_types_of_the_protocol_and_has_no_path_to_this_workspace() {
    let out = TempDir::new().unwrap();
    let written = generate_extension(&options(out.path())).unwrap();
    assert!(!written.missing.is_empty());
    let again = ExtensionCrateOptions {
        check: true,
        ..options(out.path())
    };
    assert!(generate_extension(&again).unwrap().is_current());

    let read = |file: &str| fs::read_to_string(out.path().join("mcp-ext-billing").join(file)).unwrap();
    assert!(read("src/billing.rs").contains("use mcp_types_2026_07_28::Icon;"));
    assert!(read("src/billing.rs").contains("/// The sum, in hundredths of the currency."));
    assert!(!read("Cargo.toml").contains("path ="));
}

#[test]
fn a_taken_name_or_an_unknown_revision_is_refused_and_nothing_is_written() {
    let out = TempDir::new().unwrap();
    let mut taken = options(out.path());
    taken.extension.name = Some("tasks".to_owned());
    let mut unknown = options(out.path());
    unknown.extension.of = "2031-01-01".parse().unwrap();
    for (options, expected) in [
        (
            taken,
            "`tasks` is the name of the extension io.modelcontextprotocol/tasks",
        ),
        (unknown, "--of: there is no revision 2031-01-01"),
    ] {
        let error = generate_extension(&options).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
}

#[test]
#[ignore = "builds a separate workspace"]
fn a_server_and_a_client_of_the_extension_are_built_in_a_separate_workspace() {
    let workspace = here("extension");
    generate_extension(&options(&workspace.join("crates"))).unwrap();
    fs::copy(here("../Cargo.lock"), workspace.join("Cargo.lock")).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tested = Command::new(cargo)
        .args(["test", "--quiet", "--workspace"])
        .current_dir(&workspace)
        .env("CARGO_TARGET_DIR", here("../target/extension"))
        .env("RUSTFLAGS", "-D warnings")
        .status();
    assert!(tested.unwrap().success());
}
