//! The output and the exit status of the commands.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn xtask(directory: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(args)
        .current_dir(directory)
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
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
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "", "no progress without a terminal");
    let schema = fs::read_to_string(tree.path().join("try/2099-01-01/schema.json")).unwrap();
    assert_eq!(schema, "{\n  \"$defs\": {\n    \"A\": {}\n  }\n}\n");
}

#[test]
fn all_problems_are_printed_and_the_status_is_1() {
    let tree = tempfile::tempdir().unwrap();
    fs::write(
        tree.path().join("official.json"),
        "{\n\"$defs\": { \"A\": 1,\n\"B\": 2, \"C\": {} } }",
    )
    .unwrap();
    let output = xtask(tree.path(), &["ingest", "a", "official.json", "--schema", "try"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = stderr(&output);
    let problems: Vec<_> = stderr.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(problems.len(), 2, "{stderr}");
    assert!(problems[0].starts_with("official.json:2:17: #/$defs/A: "), "{stderr}");
    assert!(!tree.path().join("try").exists());
}

#[test]
fn misuse_exits_with_status_2() {
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
    for command in ["ingest", "rename", "withdraw", "generate", "model", "diff"] {
        let output = xtask(Path::new("."), &[command, "--help"]);
        assert!(output.status.success());
        assert!(
            String::from_utf8_lossy(&output.stdout).contains(&format!("  cargo xtask {command}")),
            "{command}"
        );
    }
}

/// A tree with one revision.
fn tree() -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    fs::write(
        tree.path().join("official.json"),
        r#"{"$defs": {"A": {"type": "object"}}}"#,
    )
    .unwrap();
    let output = xtask(tree.path(), &["ingest", "a", "official.json", "--schema", "try"]);
    assert!(output.status.success(), "{}", stderr(&output));
    fs::write(tree.path().join("try/docs.yaml"), "mod base: Things.\nA: A thing.\n").unwrap();
    tree
}

const GENERATE: [&str; 5] = ["generate", "--schema", "try", "--out", "out"];

#[test]
fn generate_reports_what_it_read_and_wrote_also_without_a_terminal() {
    let tree = tree();
    let generate = |more: &[&str]| xtask(tree.path(), &[&GENERATE[..], more].concat());
    let files = |output: &Output| {
        let stderr = stderr(output);
        let (read, files) = stderr.trim_end().split_once('\n').unwrap();
        assert_eq!(read, "try: 1 revisions with 1 types read", "{stderr}");
        let (files, seconds) = files.rsplit_once(" (").unwrap();
        assert!(seconds.ends_with(" s)"), "{stderr}");
        files.to_owned()
    };
    let first = generate(&[]);
    assert!(first.stdout.is_empty());
    let first = files(&first);
    let count = first
        .strip_prefix("out: ")
        .and_then(|rest| rest.split_once(' '))
        .unwrap()
        .0;
    assert!(count.parse::<usize>().unwrap() > 5);
    assert_eq!(
        first,
        format!("out: {count} files written, 0 removed, 0 left as they were")
    );
    assert_eq!(
        files(&generate(&[])),
        format!("out: 0 files written, 0 removed, {count} left as they were")
    );
    assert_eq!(
        files(&generate(&["--check"])),
        format!("out: {count} files current, 0 stale, 0 missing, 0 orphaned")
    );
}

/// The directories and files below `root`, relative to it.
fn below(root: &Path) -> Vec<String> {
    let (mut found, mut left) = (Vec::new(), vec![root.to_owned()]);
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(root).unwrap().display().to_string());
            left.extend(path.is_dir().then_some(path));
        }
    }
    found.sort();
    found
}

#[test]
fn the_crate_of_a_removed_revision_is_reported_by_check_and_removed_by_generate() {
    let tree = tree();
    let run = |args: &[&str]| xtask(tree.path(), args);
    run(&GENERATE);
    let before = below(&tree.path().join("out"));
    let manifest = fs::read_to_string(tree.path().join("try/revisions.yaml")).unwrap();
    run(&["ingest", "b", "official.json", "--schema", "try"]);
    run(&GENERATE);
    assert!(tree.path().join("out/mcp-types-b/LICENSE-MIT").exists());
    fs::write(tree.path().join("try/revisions.yaml"), manifest).unwrap();

    let check = run(&["generate", "--schema", "try", "--out", "out", "--check"]);
    assert_eq!(check.status.code(), Some(1));
    for file in ["Cargo.toml", "LICENSE-MIT", "src/lib.rs"] {
        let line = format!("orphaned: out/mcp-types-b/{file}\n");
        assert!(stderr(&check).contains(&line), "{}", stderr(&check));
    }
    assert!(run(&GENERATE).status.success());
    assert_eq!(below(&tree.path().join("out")), before);
}

#[test]
fn generate_follows_the_renaming_and_the_withdrawal_of_a_revision() {
    let tree = tree();
    let run = |args: &[&str]| xtask(tree.path(), &[args, &["--schema", "try"]].concat());
    xtask(tree.path(), &GENERATE);
    let before = (below(&tree.path().join("try")), below(&tree.path().join("out")));
    run(&["ingest", "draft", "official.json"]);
    fs::write(
        tree.path().join("try/draft/adapt.yaml"),
        "# Of a and `draft`.\nrules: []\n",
    )
    .unwrap();

    let renamed = run(&["rename", "draft", "2099-01-01"]);
    assert!(renamed.status.success(), "{}", stderr(&renamed));
    assert_eq!(
        String::from_utf8_lossy(&renamed.stdout),
        "renamed draft to try/2099-01-01\nchanged try/2099-01-01/adapt.yaml in 1 place\nnext: cargo xtask generate\n"
    );
    assert!(xtask(tree.path(), &GENERATE).status.success());
    assert!(tree.path().join("out/mcp-types-2099-01-01").exists());

    let withdrawn = run(&["withdraw", "2099-01-01"]);
    assert!(withdrawn.status.success());
    assert_eq!(
        String::from_utf8_lossy(&withdrawn.stdout),
        "removed try/2099-01-01\nnext: cargo xtask generate\n"
    );
    assert_eq!(stderr(&withdrawn), "warning: handlers are now written against a\n");
    assert!(xtask(tree.path(), &GENERATE).status.success());
    assert_eq!(
        (below(&tree.path().join("try")), below(&tree.path().join("out"))),
        before
    );

    let unknown = run(&["withdraw", "2099-01-01"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert_eq!(
        stderr(&unknown),
        "revisions.yaml has no revision 2099-01-01; it has a\n"
    );
}

#[test]
fn a_hand_written_file_in_the_crate_of_a_removed_revision_is_kept_and_listed() {
    let tree = tree();
    let notes = tree.path().join("out/mcp-types-gone/notes.txt");
    fs::create_dir_all(notes.parent().unwrap()).unwrap();
    fs::write(&notes, "mine").unwrap();
    let output = xtask(tree.path(), &GENERATE);
    assert!(
        stderr(&output).contains("not generated, and kept: out/mcp-types-gone/notes.txt\n"),
        "{}",
        stderr(&output)
    );
    assert!(notes.exists());
}

#[test]
fn no_command_panics_when_its_output_pipe_is_closed() {
    let tree = tree();
    let commands: [&[&str]; 6] = [
        &["ingest", "a", "official.json", "--schema", "try"],
        &GENERATE,
        &["generate", "--schema", "try", "--out", "out", "--check"],
        &["model", "a", "--schema", "try"],
        &["adapters", "--schema", "try"],
        &["--help"],
    ];
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    for args in commands {
        let command = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
            command.args(args).current_dir(tree.path());
            command
        };
        let output = command().stdout(closed()).stderr(Stdio::piped()).output().unwrap();
        assert!(
            output.status.success() && !stderr(&output).contains("panicked"),
            "{args:?}: {}",
            stderr(&output)
        );
        let status = command().stdout(closed()).stderr(closed()).status().unwrap();
        assert!(status.success(), "{args:?}: {status}");
    }
}

#[test]
fn the_report_counts_files_by_layer_and_schema_gaps_by_revision() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.md");
    let output = xtask(workspace, &["report", "--out", file.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let page = fs::read_to_string(file).unwrap();
    let manifest = workspace.join("schema/revisions.yaml");
    let manifest = fs::read_to_string(manifest).unwrap();
    let revisions: Vec<&str> = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("- revision: "))
        .collect();
    for revision in &revisions {
        assert!(
            page.contains(&format!("| [{revision}](schema-gaps.md#{revision}) |")),
            "{page}"
        );
    }
    let tables = format!(
        "| Tables of the revisions and conversions | generated from the schemas and the data | {} |",
        revisions.len()
    );
    assert!(page.contains(&tables), "{page}");
}
