//! Documentation of definitions and members that a later revision renames.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_codegen::ingest::{IngestOptions, ingest};
use mcp_codegen::{GenerateOptions, generate, generate_documents};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Adds the code files in a folder and the folders in it.
fn add_code(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => add_code(&path, files),
            false => files.extend(path.extension().is_some_and(|ending| ending == "rs").then_some(path)),
        }
    }
}

#[test]
fn documentation_of_a_required_member_does_not_say_what_its_absence_means() {
    let mut files = Vec::new();
    add_code(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../generated"), &mut files);
    let mut required = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let mut docs = String::new();
        for line in text.lines().map(str::trim) {
            if let Some(text) = line.strip_prefix("///") {
                docs += text;
            } else if !line.starts_with("#[") {
                let field = line.strip_prefix("pub ").filter(|line| line.ends_with(','));
                if field.is_some_and(|field| field.contains(": ") && !field.contains(": Option<")) {
                    required += 1;
                    assert!(!docs.contains("Absent means"), "{}: {line}: {docs}", file.display());
                }
                docs.clear();
            }
        }
    }
    assert!(required > 1000, "{required}");
}

/// A schema whose request has an object of this name with these members.
fn schema(name: &str, members: Value) -> Value {
    json!({"$defs": {
        "FindRequest": {
            "type": "object",
            "properties": {
                "method": {"const": "find"},
                "params": {"type": "object", "properties": {"by": {"$ref": format!("#/$defs/{name}")}}, "required": ["by"]},
            },
            "required": ["method", "params"],
        },
        "FindResult": {"type": "object"},
        "ClientRequest": {"anyOf": [{"$ref": "#/$defs/FindRequest"}]},
        (name): {"type": "object", "properties": members, "required": ["text"]},
    }})
}

fn add(root: &Path, revision: &str, schema: &Value) {
    let file = root.join("official.json");
    fs::write(&file, schema.to_string()).unwrap();
    ingest(&IngestOptions {
        source: Some("https://example.org/schema.json".into()),
        ..IngestOptions::new(
            root.join("schema"),
            revision.parse().unwrap(),
            file.display().to_string(),
        )
    })
    .unwrap();
}

#[test]
fn renamed_definitions_and_members_keep_their_documentation_and_new_ones_lack_it() {
    let root = TempDir::new().unwrap();
    let root = root.path();
    let text = json!({"type": "string"});
    add(
        root,
        "a",
        &schema("Query", json!({"text": text, "size": {"type": "integer"}, "old": text})),
    );
    add(
        root,
        "b",
        &schema(
            "Search",
            json!({"text": text, "limit": {"type": "integer"}, "old": text, "new": text}),
        ),
    );
    add(
        root,
        "c",
        &schema(
            "Lookup",
            json!({"text": text, "limit": {"type": "integer"}, "old": text, "new": text}),
        ),
    );
    let rule = "rules:\n- {at: Query.size, renamed: limit, why: It is a limit., link: 'https://example.org'}\n";
    fs::write(root.join("schema/b/adapt.yaml"), rule).unwrap();
    let docs = "\
Query: What to find.
Query.text: The text to find.
Query.size: How many at most.
Query.old: The text of old.
";
    fs::write(root.join("schema/docs.yaml"), docs).unwrap();
    fs::write(root.join("schema/b/docs.yaml"), "Search.text: The text, in any case.\n").unwrap();

    let options = GenerateOptions {
        schema: root.join("schema"),
        out: root.join("generated"),
        crates: String::new(),
        check: false,
    };
    let undocumented = generate(&options)
        .unwrap_or_else(|error| panic!("{error}"))
        .undocumented;
    let asked_for = |revision: &str, name: &str| -> BTreeSet<String> {
        let keys = undocumented
            .iter()
            .find(|lacking| lacking.name == revision)
            .unwrap()
            .keys
            .iter()
            .filter(|key| key.starts_with(name));
        keys.cloned().collect()
    };
    assert_eq!(asked_for("a", "Query"), BTreeSet::new());
    assert_eq!(asked_for("b", "Search"), BTreeSet::from(["Search.new".to_owned()]));
    assert_eq!(asked_for("c", "Lookup"), BTreeSet::from(["Lookup.new".to_owned()]));

    let source =
        |revision: &str| fs::read_to_string(root.join(format!("generated/mcp-types-{revision}/src/base.rs"))).unwrap();
    for (revision, text) in [
        ("a", "The text to find."),
        ("b", "The text, in any case."),
        ("c", "The text, in any case."),
    ] {
        for text in ["What to find.", text, "How many at most.", "The text of old."] {
            assert!(
                source(revision).contains(&format!("/// {text}\n")),
                "{revision}: {text}"
            );
        }
    }
    generate_documents(&root.join("schema"), &root.join("docs"), false).unwrap();
    let page = fs::read_to_string(root.join("docs/reference/c.md")).unwrap();
    assert!(
        page.contains("What to find.") && page.contains("How many at most."),
        "{page}"
    );
}

#[test]
fn the_link_of_a_definition_with_spaces_and_signs_in_its_name_is_escaped() {
    let root = TempDir::new().unwrap();
    let root = root.path();
    add(
        root,
        "a",
        &schema("Record<string, (x)>", json!({"text": {"type": "string"}})),
    );
    let manifest = root.join("schema/revisions.yaml");
    let entries = fs::read_to_string(&manifest).unwrap();
    fs::write(
        &manifest,
        format!("links: https://example.org/{{revision}}#{{anchor}}\n{entries}"),
    )
    .unwrap();
    generate(&GenerateOptions {
        schema: root.join("schema"),
        out: root.join("out"),
        crates: "../..".into(),
        check: false,
    })
    .unwrap();
    let types = root.join("out/mcp-types-a/src");
    let files = fs::read_dir(types)
        .unwrap()
        .map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let text: String = files.collect();
    let link = "[Specification](https://example.org/a#record%3Cstring%2C%20%28x%29%3E)";
    assert!(text.contains(link), "{text}");
}
