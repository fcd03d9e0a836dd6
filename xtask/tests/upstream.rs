//! The comparison with upstream, with a folder in place of the network.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

const OFFICIAL: &str = r#"{"$defs": {"A": {"type": "object", "description": "Prose."}}}"#;

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn xtask(root: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(args)
        .current_dir(root)
        .output()
        .unwrap()
}

/// A tree with one revision and one package, and a folder in which nothing is newer.
fn tree() -> TempDir {
    let tree = TempDir::new().unwrap();
    let write = |file: &str, text: &str| write(tree.path(), file, text);
    write("official.json", OFFICIAL);
    let ingested = xtask(
        tree.path(),
        &["ingest", "2099-01-01", "official.json", "--schema", "try"],
    );
    assert!(ingested.status.success());
    let file = tree.path().join("package.json");
    write("package.json", "{\"dependencies\": {\"an-sdk\": \"2.4.0\"}}");
    write(
        "upstream.yaml",
        &format!(
            "revisions: https://example.org/list\nschema: https://example.org/{{revision}}.json\ndraft: https://example.org/draft.json\n\
         extensions: {{}}\npackages: [{{registry: npm, name: an-sdk, file: {}}}]\n",
            file.display()
        ),
    );
    write("out/example.org/list", r#"[{"name": "2099-01-01"}, {"name": "draft"}]"#);
    write("out/example.org/2099-01-01.json", OFFICIAL);
    write("out/example.org/draft.json", &OFFICIAL.replace("Prose", "Other prose"));
    write("out/npm/an-sdk", "2.4.0\n");
    tree
}

fn upstream(tree: &Path, format: &str) -> (String, Option<i32>) {
    let output = xtask(
        tree,
        &[
            "upstream",
            "--from",
            "out",
            "--manifest",
            "upstream.yaml",
            "--schema",
            "try",
            "--format",
            format,
        ],
    );
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

#[test]
fn a_schema_that_differs_only_in_prose_is_the_same() {
    let tree = tree();
    let (text, status) = upstream(tree.path(), "text");
    let expected = format!(
        "same     revision all\nsame     schema 2099-01-01\nsame     schema draft\nsame     npm an-sdk ({})\n",
        tree.path().join("package.json").display()
    );
    assert_eq!((text, status), (expected, Some(0)));
}

#[test]
fn the_schemas_of_another_family_are_compared_too() {
    let tree = tree();
    let ingested = xtask(
        tree.path(),
        &["ingest", "2098-01-01", "official.json", "--schema", "try/forms"],
    );
    assert!(ingested.status.success());
    let manifest = fs::read_to_string(tree.path().join("upstream.yaml")).unwrap();
    let families = "families:\n  forms:\n    revisions: https://example.org/forms\n    schema: https://example.org/form-{revision}.json\n";
    write(tree.path(), "upstream.yaml", &(manifest + families));
    let forms = r#"[{"name": "2098-01-01"}, {"name": "2098-06-01"}]"#;
    write(tree.path(), "out/example.org/forms", forms);
    write(tree.path(), "out/example.org/form-2098-01-01.json", OFFICIAL);
    let (text, status) = upstream(tree.path(), "text");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("same     schema forms/2098-01-01\n"), "{text}");
    assert!(text.contains("2098-06-01"), "{text}");
}

#[test]
fn a_changed_draft_a_corrected_schema_a_new_revision_and_a_newer_package_are_reported() {
    let tree = tree();
    let changed = OFFICIAL.replace("}}}", "}, \"B\": {\"type\": \"object\"}}}");
    write(tree.path(), "out/example.org/2099-01-01.json", &changed);
    write(
        tree.path(),
        "out/example.org/draft.json",
        &changed.replace("\"B\"", "\"C\""),
    );
    write(
        tree.path(),
        "out/example.org/list",
        r#"[{"name": "2099-01-01"}, {"name": "2099-06-01"}, {"name": "draft"}]"#,
    );
    write(tree.path(), "out/npm/an-sdk", "2.5.0\n");
    let (text, status) = upstream(tree.path(), "text");
    assert_eq!(status, Some(1), "{text}");
    for line in [
        "changed  revision all: none -> 2099-06-01\n",
        "         `B`: added",
        "         `C`: added",
        ": 2.4.0 -> 2.5.0\n",
    ] {
        assert!(text.contains(line), "{line} isn't in:\n{text}");
    }
    let (text, _) = upstream(tree.path(), "markdown");
    assert!(
        text.starts_with("0 of 4 are unchanged.\n\n| | Name | Here | Upstream |\n"),
        "{text}"
    );
    let (text, _) = upstream(tree.path(), "json");
    let items: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(items[2]["name"], "draft");
    assert_eq!(items[2]["diff"]["changes"][0]["name"], "C");
    assert_eq!(items[3]["theirs"], json!("2.5.0"));
}

#[test]
fn a_schema_that_cannot_be_read_is_reported_as_unread() {
    let tree = tree();
    fs::remove_file(tree.path().join("out/example.org/draft.json")).unwrap();
    let (text, status) = upstream(tree.path(), "text");
    assert_eq!(status, Some(1));
    assert!(text.contains("unread   schema draft: "), "{text}");
}
