//! What a release would publish, in a workspace that is made up.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

const API: &str = "//! A library.\n/// One.\npub fn one() {}\n";

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn manifest(name: &str, version: &str, more: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2024\"\ndescription = \"Crate {name}\"\n\
         license = \"MIT\"\n{more}"
    )
}

/// Three libraries, one of which isn't published, and a program, as they were released.
fn released() -> TempDir {
    let root = TempDir::new().unwrap();
    let write = |file, text: &str| write(root.path(), file, text);
    write(
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"base\", \"above\", \"own\", \"program\"]\n",
    );
    write(".gitignore", "target\n");
    write("base/Cargo.toml", &manifest("made-up-base", "0.1.0", ""));
    write("base/src/lib.rs", API);
    let needs = "[dependencies]\nmade-up-base = { path = \"../base\", version = \"0.1.0\" }\n";
    write("above/Cargo.toml", &manifest("made-up-above", "0.1.0", needs));
    write("above/src/lib.rs", "//! A library.\npub use made_up_base::one;\n");
    write("own/Cargo.toml", &manifest("made-up-own", "0.1.0", "publish = false\n"));
    write("own/src/lib.rs", "//! A library.\n");
    write("program/Cargo.toml", &manifest("made-up-a-program", "1.0.0", ""));
    write("program/src/main.rs", "fn main() {}\n");
    for args in [
        &["init", "--quiet"][..],
        &["add", "."],
        &["commit", "--quiet", "--message=."],
        &["tag", "v1"],
    ] {
        git(root.path(), args);
    }
    root
}

fn git(root: &Path, args: &[&str]) {
    let identity = [
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "-c",
        "commit.gpgsign=false",
    ];
    let status = Command::new("git")
        .args(identity)
        .args(args)
        .current_dir(root)
        .status()
        .unwrap();
    assert!(status.success());
}

fn publish(root: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["publish", "--workspace", "."])
        .args(args)
        .current_dir(root)
        .env_remove("CARGO_REGISTRY_TOKEN")
        .output()
        .unwrap()
}

/// The report of a dry run without the network, and whether nothing is in the way.
fn dry_run(root: &Path) -> (Value, bool) {
    let output = publish(root, &["--dry-run", "--offline", "--no-verify", "--format", "json"]);
    let report = serde_json::from_slice(&output.stdout);
    let report = report.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (report, output.status.success())
}

/// Of each crate its name, its bump and the version that it needs.
fn steps(report: &Value) -> Value {
    let crates = report["crates"].as_array().unwrap().iter();
    crates
        .map(|found| json!([found["name"], found["bump"], found["needed"]]))
        .collect()
}

#[test]
fn nothing_is_published_of_what_has_not_changed() {
    let root = released();
    let (report, is_ready) = dry_run(root.path());
    assert!(is_ready);
    assert_eq!(report["since"], "v1");
    let expected = json!([
        ["made-up-a-program", null, null],
        ["made-up-base", null, null],
        ["made-up-above", null, null],
    ]);
    assert_eq!(steps(&report), expected);
    assert_eq!(report["changelog"], "");
    assert_eq!(report["names"]["made-up-base"], "unknown", "the network isn't used");
}

#[test]
fn a_breaking_change_reaches_the_libraries_that_need_it_and_asks_for_their_versions() {
    let root = released();
    write(root.path(), "base/src/lib.rs", &API.replace("one()", "one(_: u8)"));
    write(root.path(), "program/src/main.rs", "fn main() {\n}\n");
    let (report, is_ready) = dry_run(root.path());
    assert!(!is_ready);
    let expected = json!([
        ["made-up-a-program", "patch", "1.0.1"],
        ["made-up-base", "major", "0.2.0"],
        ["made-up-above", "major", "0.2.0"],
    ]);
    assert_eq!(steps(&report), expected);
    let problems = report["problems"].as_array().unwrap();
    assert_eq!(
        problems[1],
        "made-up-base 0.1.0: the changes need 0.2.0; set `version = \"0.2.0\"` in base/Cargo.toml"
    );
    assert!(
        report["changelog"]
            .as_str()
            .unwrap()
            .contains("## `made-up-base` 0.2.0\n\n### Changed (breaking)\n\n- ")
    );

    let needs = "[dependencies]\nmade-up-base = { path = \"../base\", version = \"0.2.0\" }\n";
    write(root.path(), "base/Cargo.toml", &manifest("made-up-base", "0.2.0", ""));
    write(
        root.path(),
        "above/Cargo.toml",
        &manifest("made-up-above", "0.2.0", needs),
    );
    write(
        root.path(),
        "program/Cargo.toml",
        &manifest("made-up-a-program", "1.0.1", ""),
    );
    let (report, is_ready) = dry_run(root.path());
    assert!(is_ready, "{report:#}");
    assert_eq!(steps(&report), expected);
    assert_eq!(
        (&report["packaged"], &report["verified"]),
        (&json!(true), &json!(false))
    );
}

#[test]
fn nothing_is_sent_without_a_token_or_an_unknown_tag() {
    let root = released();
    let output = publish(root.path(), &["--execute"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "nothing was sent: CARGO_REGISTRY_TOKEN isn't set\n"
    );
    assert_eq!(output.stdout, b"");
    let output = publish(root.path(), &["--dry-run", "--since", "v2"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("v2"));
    assert_eq!(publish(root.path(), &[]).status.code(), Some(2));
}
