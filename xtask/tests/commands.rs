//! What the commands print and return.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn xtask(directory: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(args)
        .current_dir(directory)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_new_revision_is_ingested_into_another_tree() {
    let tree = tempfile::tempdir().unwrap();
    fs::write(
        tree.path().join("official.json"),
        r#"{ "$defs": { "A": { "title": "prose" } } }"#,
    )
    .unwrap();
    let output = xtask(
        tree.path(),
        &["ingest", "2099-01-01", "official.json", "--schema", "try"],
    );
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(said(&output), "", "no progress where there is no terminal");
    let schema = fs::read_to_string(tree.path().join("try/2099-01-01/schema.json")).unwrap();
    assert_eq!(schema, "{\n  \"$defs\": {\n    \"A\": {}\n  }\n}\n");
}

#[test]
fn problems_are_printed_one_by_one_and_the_status_is_1() {
    let tree = tempfile::tempdir().unwrap();
    fs::write(
        tree.path().join("official.json"),
        "{\n\"$defs\": { \"A\": 1,\n\"B\": 2 } }",
    )
    .unwrap();
    let output = xtask(tree.path(), &["ingest", "a", "official.json", "--schema", "try"]);
    assert_eq!(output.status.code(), Some(1));
    let said = said(&output);
    let problems: Vec<_> = said.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(problems.len(), 2, "{said}");
    assert!(problems[0].starts_with("official.json:2:17: #/$defs/A: "), "{said}");
    assert!(!tree.path().join("try").exists());
}

#[test]
fn misuse_has_the_status_2() {
    let tree = tempfile::tempdir().unwrap();
    let misuses: [&[&str]; 6] = [
        &[],
        &["ingest", "2099-01-01"],
        &["ingest", "../2099", "official.json"],
        &["ingest", "-x", "official.json"],
        &["ingest", "a", "official.json", "--after", "b", "--before", "c"],
        &["generate", "--no-such-option"],
    ];
    for args in misuses {
        assert_eq!(xtask(tree.path(), args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn help_has_examples() {
    for command in ["ingest", "generate", "model"] {
        let output = xtask(Path::new("."), &[command, "--help"]);
        assert!(output.status.success());
        assert!(
            String::from_utf8_lossy(&output.stdout).contains(&format!("  cargo xtask {command}")),
            "{command}"
        );
    }
}
