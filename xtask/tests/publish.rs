//! Dry runs and releases of a made-up workspace.

mod registry;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use registry::{Contents, Registry};

const API: &str = "//! A library.\n/// One.\npub fn one() {}\n";

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn manifest(name: &str, version: &str, more: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2024\"\ndescription = \"Crate {name}\"\n\
         license = \"MIT\"\nrepository = \"https://example.org/made-up\"\n{more}"
    )
}

/// Three libraries, one of which isn't published, and a program, as they were released.
fn released() -> TempDir {
    let root = TempDir::new().unwrap();
    let write = |file, text: &str| write(root.path(), file, text);
    write(
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"base\", \"above\", \"own\", \"program\"]\n\
         [workspace.metadata.release]\nowners = [\"made-up\"]\n",
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

/// The report of a dry run without the network, and whether it found no problems.
fn dry_run(root: &Path) -> (Value, bool) {
    let output = publish(root, &["--dry-run", "--offline", "--no-verify", "--format", "json"]);
    let report = serde_json::from_slice(&output.stdout);
    let report = report.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (report, output.status.success())
}

/// The name, the bump and the needed version of each crate.
fn steps(report: &Value) -> Value {
    let crates = report["crates"].as_array().unwrap().iter();
    crates
        .map(|found| json!([found["name"], found["bump"], found["needed"]]))
        .collect()
}

#[test]
fn unchanged_crates_need_no_release() {
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
    assert_eq!(report["crates"][1]["published"], "unknown", "the network isn't used");
}

#[test]
fn a_breaking_change_requires_new_versions_of_the_libraries_that_depend_on_it() {
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
fn a_breaking_change_of_an_unstable_crate_does_not_affect_its_dependents() {
    let root = released();
    let unstable = "[package.metadata.release]\nunstable = true\n";
    write(
        root.path(),
        "base/Cargo.toml",
        &manifest("made-up-base", "0.2.0", unstable),
    );
    write(
        root.path(),
        "base/src/lib.rs",
        "//! A library.\n/// Two.\npub fn two() {}\n",
    );
    let (report, _) = dry_run(root.path());
    let expected = json!([
        ["made-up-a-program", null, null],
        ["made-up-base", "major", "0.2.0"],
        ["made-up-above", null, null],
    ]);
    assert_eq!(steps(&report), expected, "{report}");
    write(
        root.path(),
        "base/Cargo.toml",
        &manifest("made-up-base", "1.0.0", unstable),
    );
    let (report, _) = dry_run(root.path());
    let problem = "made-up-base 1.0.0: a crate of a draft stays below 1.0.0";
    assert!(
        report["problems"].as_array().unwrap().contains(&json!(problem)),
        "{report}"
    );
}

#[test]
fn a_missing_token_an_unknown_tag_and_a_missing_mode_are_refused() {
    let root = released();
    let output = publish(root.path(), &["--execute"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "nothing was published: CARGO_REGISTRY_TOKEN isn't set\n"
    );
    assert_eq!(output.stdout, b"");
    let output = publish(root.path(), &["--dry-run", "--since", "v2"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("v2"));
    assert_eq!(publish(root.path(), &[]).status.code(), Some(2));
}

/// Publishes the made-up workspace to a registry, and returns what was printed to standard error.
fn execute(root: &Path, registry: &Registry, args: &[&str], succeeds: bool) -> String {
    let home = TempDir::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command
        .args(["publish", "--workspace", ".", "--registry", "local"])
        .args(args)
        .current_dir(root);
    let output = registry.set_up(&mut command, home.path()).output().unwrap();
    let [text, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert_eq!(output.status.success(), succeeds, "{text}\n{errors}");
    text + &errors
}

#[test]
fn crates_are_published_in_order_despite_a_rate_limit_and_yanked_in_reverse_order() {
    let root = released();
    let registry = Registry::start(Contents {
        burst: Some(2),
        ..Contents::default()
    });
    let text = execute(root.path(), &registry, &["--execute"], true);
    assert!(text.contains("the registry limits new crates; "), "{text}");
    let expected = [
        "publish made-up-a-program 1.0.0",
        "owner made-up-a-program made-up",
        "publish made-up-base 0.1.0",
        "owner made-up-base made-up",
        "publish made-up-above 0.1.0",
        "publish made-up-above 0.1.0",
        "owner made-up-above made-up",
    ];
    assert_eq!(registry.contents().log, expected);
    registry.contents().log.clear();

    execute(root.path(), &registry, &["--execute"], true);
    assert_eq!(registry.contents().log, [""; 0], "everything is published");

    execute(root.path(), &registry, &["--yank"], true);
    let expected = [
        "yank made-up-above 0.1.0",
        "yank made-up-base 0.1.0",
        "yank made-up-a-program 1.0.0",
    ];
    assert_eq!(registry.contents().log, expected);
}

#[test]
fn an_interrupted_release_continues_with_the_unpublished_crates() {
    let root = released();
    let fails = Some("made-up-base".to_owned());
    let registry = Registry::start(Contents {
        fails,
        ..Contents::default()
    });
    let text = execute(root.path(), &registry, &["--execute"], false);
    assert!(text.contains("out of order"), "{text}");
    registry.contents().log.clear();

    let text = execute(root.path(), &registry, &["--execute"], true);
    assert!(
        text.contains("made-up-a-program") && text.contains("it is published"),
        "{text}"
    );
    let sent = registry
        .contents()
        .log
        .iter()
        .filter(|line| line.starts_with("publish"))
        .cloned()
        .collect::<Vec<_>>();
    assert_eq!(sent, ["publish made-up-base 0.1.0", "publish made-up-above 0.1.0"]);
}

#[test]
fn nothing_is_published_if_someone_else_owns_a_crate() {
    let root = released();
    let registry = Registry::start(Contents::default());
    execute(root.path(), &registry, &["--execute"], true);
    registry
        .contents()
        .owners
        .insert("made-up-base".to_owned(), vec!["stranger".to_owned()]);
    registry.contents().log.clear();
    write(root.path(), "base/Cargo.toml", &manifest("made-up-base", "0.1.1", ""));
    git(root.path(), &["commit", "--all", "--quiet", "--message=."]);

    let text = execute(root.path(), &registry, &["--execute"], false);
    let problem = "made-up-base: the registry has a crate of this name, owned by stranger";
    assert!(text.contains(problem), "{text}");
    assert_eq!(registry.contents().log, [""; 0]);
}

#[test]
fn a_missing_repository_and_missing_owners_are_problems() {
    let root = released();
    let unset = |file: &str, text: &str| {
        let path = root.path().join(file);
        fs::write(&path, fs::read_to_string(&path).unwrap().replace(text, "")).unwrap();
    };
    unset("base/Cargo.toml", "https://example.org/made-up");
    unset("Cargo.toml", "owners = [\"made-up\"]");
    let (report, is_ready) = dry_run(root.path());
    assert!(!is_ready);
    let problems = report["problems"].to_string();
    assert!(
        problems.contains("set `repository`") && problems.contains("set `owners`"),
        "{problems}"
    );
}
