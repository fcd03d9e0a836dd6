//! The version bump of a crate whose schema changes after its release.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mcp_codegen::ingest::{IngestOptions, ingest};
use mcp_codegen::release::{Bump, CrateChange, compare_schemas, next_version};
use mcp_codegen::{GenerateOptions, generate};
use serde_json::{Value, json};
use tempfile::TempDir;

const REVISION: &str = "2099-01-01";
const TYPES: &str = "mcp-types-2099-01-01";
const ADAPTERS: &str = "mcp-adapters";

fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "Tool": {
                "type": "object",
                "properties": {"name": {"type": "string", "maxLength": 10}, "size": {"type": "integer"}},
                "required": ["name"],
            },
            "Kind": {"enum": ["small", "large"], "type": "string"},
        },
    })
}

fn ingested(root: &Path, revision: &str, schema: &Value) {
    let file = root.join("official.json");
    fs::write(&file, schema.to_string()).unwrap();
    let done = ingest(&IngestOptions {
        source: Some("https://example.org/schema.json".into()),
        accept: true,
        ..IngestOptions::new(
            root.join("schema"),
            revision.parse().unwrap(),
            file.display().to_string(),
        )
    });
    done.unwrap_or_else(|error| panic!("{error}"));
}

/// The changes since a release with [`schema`], by crate.
fn changes(later: &[(&str, Value)]) -> BTreeMap<String, CrateChange> {
    let [before, after] = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    ingested(before.path(), REVISION, &schema());
    for (revision, schema) in later {
        ingested(after.path(), revision, schema);
    }
    let [before, after] = [before, after].map(|root| root.keep().join("schema"));
    let changes = compare_schemas(&before, &after).unwrap_or_else(|error| panic!("{error}"));
    for schema in [before, after] {
        fs::remove_dir_all(schema.parent().unwrap()).unwrap();
    }
    changes
}

/// The change of the types crate when its schema is corrected.
fn corrected(correct: impl FnOnce(&mut Value)) -> CrateChange {
    let mut schema = schema();
    correct(&mut schema["$defs"]);
    let changes = changes(&[(REVISION, schema)]);
    assert_eq!(changes[ADAPTERS].bump, changes[TYPES].bump);
    changes[TYPES].clone()
}

fn change(bump: Bump, notes: &[&str]) -> CrateChange {
    CrateChange {
        bump: Some(bump),
        notes: notes.iter().map(|note| (*note).to_owned()).collect(),
    }
}

#[test]
fn the_same_schema_needs_no_release() {
    let none = CrateChange {
        bump: None,
        notes: Vec::new(),
    };
    assert_eq!(corrected(|_| ()), none);
}

#[test]
fn a_changed_bound_is_a_patch() {
    let found = corrected(|definitions| definitions["Tool"]["properties"]["name"]["maxLength"] = json!(20));
    let note = "`Tool.name`: changed: no longer maxLength 10, now maxLength 20.";
    assert_eq!(found, change(Bump::Patch, &[note]));
}

#[test]
fn a_new_type_is_a_minor_change() {
    let found = corrected(|definitions| definitions["Icon"] = json!({"type": "object", "properties": {}}));
    assert_eq!(found, change(Bump::Minor, &["`Icon`: added."]));
}

#[test]
fn a_change_that_can_break_code_is_a_major_change() {
    type Correction = fn(&mut Value);
    let majors: [(&str, Correction); 5] = [
        ("`base::Tool.size` is gone.", |definitions| {
            definitions["Tool"]["properties"]
                .as_object_mut()
                .unwrap()
                .remove("size");
        }),
        ("`base::Tool.size` has another type.", |definitions| {
            definitions["Tool"]["required"] = json!(["name", "size"]);
        }),
        (
            "`base::Tool.depth` is new in a type with only public parts.",
            |definitions| {
                definitions["Tool"]["properties"]["depth"] = json!({"type": "integer"});
            },
        ),
        (
            "`base::Kind::\"tiny\"` is new in a type with only public parts.",
            |definitions| {
                definitions["Kind"]["enum"] = json!(["small", "large", "tiny"]);
            },
        ),
        ("`base::Kind` is gone.", |definitions| {
            definitions.as_object_mut().unwrap().remove("Kind");
        }),
    ];
    for (note, correct) in majors {
        let found = corrected(correct);
        assert_eq!((found.bump, found.notes[0].as_str()), (Some(Bump::Major), note));
    }
}

#[test]
fn a_new_revision_changes_the_adapters_and_no_other_types_crate() {
    let changes = changes(&[(REVISION, schema()), ("2100-01-01", schema())]);
    assert_eq!(changes[TYPES].bump, None);
    assert_eq!(
        changes["mcp-types-2100-01-01"].notes,
        ["The first release of the types of 2100-01-01."]
    );
    let notes = [
        "Handlers are written against 2100-01-01 instead of 2099-01-01.",
        "Revision 2100-01-01 is supported.",
    ];
    assert_eq!(changes[ADAPTERS], change(Bump::Major, &notes));
}

#[test]
fn a_new_revision_with_an_unchanged_hub_is_a_minor_change() {
    let [before, after] = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    ingested(before.path(), REVISION, &schema());
    ingested(after.path(), REVISION, &schema());
    ingested(after.path(), "2100-01-01", &schema());
    let manifest = after.path().join("schema/revisions.yaml");
    let text = fs::read_to_string(&manifest).unwrap();
    let with_hub = text.replace("\nrevisions:", &format!("\nhub: {REVISION}\n\nrevisions:"));
    fs::write(&manifest, with_hub).unwrap();
    let changes = compare_schemas(&before.path().join("schema"), &after.path().join("schema")).unwrap();
    let notes = ["Revision 2100-01-01 is supported."];
    assert_eq!(changes[ADAPTERS], change(Bump::Minor, &notes));
}

#[test]
fn versions_follow_the_rules_of_cargo() {
    let bumps = [Bump::Patch, Bump::Minor, Bump::Major];
    let after = |version| bumps.map(|bump| next_version(version, bump).unwrap());
    assert_eq!(after("1.2.3"), ["1.2.4", "1.3.0", "2.0.0"]);
    assert_eq!(after("0.2.3"), ["0.2.4", "0.2.4", "0.3.0"]);
    for version in ["1.2", "1.2.3.4", "1.2.x", "1.2.3-beta.1"] {
        let error = next_version(version, Bump::Patch).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{version:?} isn't a version of the form 1.2.3")
        );
    }
}

#[test]
fn generated_crates_have_the_versions_that_the_manifest_specifies() {
    let root = TempDir::new().unwrap();
    ingested(root.path(), REVISION, &schema());
    let options = GenerateOptions {
        schema: root.path().join("schema"),
        out: root.path().join("generated"),
        crates: "../..".to_owned(),
        check: false,
    };
    let manifest = options.schema.join("revisions.yaml");
    let text = fs::read_to_string(&manifest).unwrap();
    let with_versions = |versions: &str| {
        let versions = format!("\nversions: {{{versions}}}\n\nrevisions:");
        fs::write(&manifest, text.replace("\nrevisions:", &versions)).unwrap();
        generate(&options).map(|_| ()).map_err(|error| error.to_string())
    };
    with_versions("mcp-types-2099-01-01: 0.2.1, mcp-wire: 0.3.0, mcp-adapters: 1.0.0").unwrap();
    let manifest_of = |name: &str| fs::read_to_string(options.out.join(name).join("Cargo.toml")).unwrap();
    let (types, adapters) = (manifest_of(TYPES), manifest_of(ADAPTERS));
    assert!(types.contains("\nversion = \"0.2.1\"\n"), "{types}");
    assert!(types.contains("wire\", version = \"0.3.0\""), "{types}");
    assert!(adapters.contains("\nversion = \"1.0.0\"\n"), "{adapters}");
    assert!(
        adapters.contains(&format!("\"../{TYPES}\", version = \"0.2.1\"")),
        "{adapters}"
    );

    let problem = with_versions("mcp-wire: \"1.0\"").unwrap_err();
    let what = "#/versions/mcp-wire: `1.0` isn't a version\n  write three numbers, as in 1.2.3";
    assert!(problem.ends_with(what), "{problem}");
}

#[test]
fn a_single_crate_gets_the_greatest_bump_of_its_revisions() {
    let [before, after] = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let mut smaller = schema();
    smaller["$defs"].as_object_mut().unwrap().remove("Kind");
    for (root, second) in [(&before, schema()), (&after, smaller)] {
        ingested(root.path(), "1", &schema());
        ingested(root.path(), "2", &second);
        let manifest = root.path().join("schema/revisions.yaml");
        let text = fs::read_to_string(&manifest).unwrap();
        fs::write(
            manifest,
            format!("family: {{name: Example, crates: example, single_crate: true}}\n{text}"),
        )
        .unwrap();
    }
    let changes = compare_schemas(&before.path().join("schema"), &after.path().join("schema")).unwrap();
    assert_eq!(changes.keys().collect::<Vec<_>>(), ["example-types"]);
    assert_eq!(
        changes["example-types"],
        change(Bump::Major, &["`2` has breaking changes."])
    );
}
