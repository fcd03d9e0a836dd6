//! The lock: the type names of a published revision are kept.

use std::fs;
use std::path::{Path, PathBuf};

use mcp_codegen::ingest::{IngestOptions, ingest};
use mcp_codegen::{GenerateOptions, generate, lock_names, revision_tables};
use serde_json::{Value, json};
use tempfile::TempDir;

const REVISION: &str = "2099-01-01";

/// A schema directory with one revision.
struct Directory {
    root: TempDir,
}

impl Directory {
    fn new(schema: &Value, draft: bool) -> Self {
        let directory = Self {
            root: TempDir::new().unwrap(),
        };
        directory.ingest(schema, draft).unwrap();
        directory
    }

    fn schema(&self) -> PathBuf {
        self.root.path().join("schema")
    }

    fn names(&self) -> PathBuf {
        self.schema().join(REVISION).join("names.yaml")
    }

    fn ingest(&self, schema: &Value, draft: bool) -> Result<(), String> {
        let file = self.root.path().join("official.json");
        fs::write(&file, schema.to_string()).unwrap();
        let ingested = ingest(&IngestOptions {
            source: Some("https://example.org/schema.json".into()),
            accept: true,
            draft: Some(draft),
            ..IngestOptions::new(self.schema(), REVISION.parse().unwrap(), file.display().to_string())
        });
        ingested.map(|_| ()).map_err(|error| error.to_string())
    }

    /// Generates the crates, and returns whether `names.yaml` has all type names.
    fn generated(&self) -> Result<bool, String> {
        let generated = generate(&GenerateOptions {
            schema: self.schema(),
            out: self.root.path().join("generated"),
            crates: "../..".to_owned(),
            check: false,
        });
        generated
            .map(|generated| generated.names.is_current())
            .map_err(|error| error.to_string())
    }

    fn tools(&self) -> String {
        read(
            &self
                .root
                .path()
                .join("generated")
                .join(format!("mcp-types-{REVISION}/src/base.rs")),
        )
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "JSONTool": {"type": "object", "properties": {
                "kind": {"enum": ["a", "b"], "type": "string"},
                "hints": {"type": "object", "properties": {"size": {"type": "integer"}}},
            }},
        },
    })
}

#[test]
fn locked_names_win_over_changed_acronyms_and_modules() {
    let directory = Directory::new(&schema(), false);
    let lines = "'#/$defs/JSONTool': base::JsonTool\n\
                 '#/$defs/JSONTool/properties/hints': base::JsonToolHints\n\
                 '#/$defs/JSONTool/properties/kind': base::JsonToolKind\n";
    lock_names(&directory.schema(), false).unwrap();
    assert!(read(&directory.names()).ends_with(&format!("\n\n{lines}")));
    assert_eq!(directory.generated(), Ok(true));

    let before = directory.tools();
    let manifest = directory.schema().join("revisions.yaml");
    fs::write(
        &manifest,
        read(&manifest).replace("\nrevisions:", "\nacronyms: {JSON: Other}\n\nrevisions:"),
    )
    .unwrap();
    fs::write(directory.schema().join("modules.yaml"), "tools: [JSONTool]\n").unwrap();
    assert_eq!(directory.generated(), Ok(true));
    assert_eq!(directory.tools(), before);
    assert!(lock_names(&directory.schema(), false).unwrap().is_current());
}

#[test]
fn names_of_new_types_are_added() {
    let directory = Directory::new(&schema(), false);
    lock_names(&directory.schema(), false).unwrap();
    let before = read(&directory.names());
    let mut schema = schema();
    schema["$defs"]["Zebra"] = json!({"type": "object", "properties": {"stripes": {"type": "integer"}}});
    directory.ingest(&schema, false).unwrap();
    assert_eq!(directory.generated(), Ok(false));
    lock_names(&directory.schema(), false).unwrap();
    assert_eq!(
        read(&directory.names()),
        format!("{before}'#/$defs/Zebra': base::Zebra\n")
    );
    assert_eq!(directory.generated(), Ok(true));
}

#[test]
fn a_change_that_renames_or_removes_a_locked_type_is_a_problem() {
    let directory = Directory::new(&schema(), false);
    lock_names(&directory.schema(), false).unwrap();
    let own = directory.schema().join(REVISION);
    let correction = |at: &str, to: &str| {
        format!("corrections:\n  - {{at: \"{at}\", {to}, why: A test., link: \"https://example.org\"}}\n")
    };
    let problem = |overlay: String| {
        fs::write(own.join("overlay.yaml"), overlay).unwrap();
        let problem = directory.generated().unwrap_err();
        assert!(lock_names(&directory.schema(), false).is_err());
        problem.replace(&format!("{}/", own.display()), "")
    };
    assert_eq!(
        problem(correction("#/$defs/JSONTool/properties/hints/x-name", "to: Advice")),
        "names.yaml:5:38: #/$defs/JSONTool/properties/hints: `base::JsonToolHints` is published, and would now be `base::Advice`\n  \
         undo the change, or name the type by `x-name` in overlay.yaml; for a breaking release, change this line"
    );
    let kind = json!({"enum": ["a", "b"], "type": "string"});
    assert_eq!(
        problem(correction(
            "#/$defs/JSONTool/properties/kind",
            &format!("expect: {kind}, to: {{type: string}}")
        )),
        "names.yaml:6:37: #/$defs/JSONTool/properties/kind: `base::JsonToolKind` is published, and there is no such type any more\n  \
         restore what was there in overlay.yaml; for a breaking release, remove this line"
    );
}

#[test]
fn a_locked_name_that_is_not_a_type_path_is_a_problem() {
    let directory = Directory::new(&schema(), false);
    for path in [
        "JsonTool",
        "base::json",
        "fn::JsonTool",
        "base::Json Tool",
        "base::a::B",
    ] {
        fs::write(directory.names(), format!("\"#/$defs/JSONTool\": \"{path}\"\n")).unwrap();
        let problem = directory.generated().unwrap_err();
        let what =
            format!("names.yaml:1:21: #/$defs/JSONTool: `{path}` isn't a path of a type\n  write `module::Type`");
        assert!(problem.ends_with(&what), "{problem}");
    }
}

#[test]
fn names_of_a_draft_are_not_locked() {
    let directory = Directory::new(&schema(), true);
    assert!(lock_names(&directory.schema(), false).unwrap().is_current());
    assert!(!directory.names().exists());
}

/// Returns the names of the types of the first of several revisions that have the same schema.
fn names_of_first(schema: &Value, revisions: &[&str]) -> Vec<String> {
    let directory = TempDir::new().unwrap();
    let mut manifest = String::from("revisions:\n");
    for revision in revisions {
        fs::create_dir(directory.path().join(revision)).unwrap();
        fs::write(directory.path().join(revision).join("schema.json"), schema.to_string()).unwrap();
        let hash = "0".repeat(64);
        manifest +=
            &format!("- {{revision: {revision}, source: 'https://example.org', sha256: {hash}, dialect: 2020-12}}\n");
    }
    fs::write(directory.path().join("revisions.yaml"), manifest).unwrap();
    let tables = revision_tables(directory.path()).unwrap();
    let table: Value = serde_json::from_str(&tables[0].table).unwrap();
    table["types"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn a_later_revision_with_the_same_schema_changes_no_name() {
    let tagged = |kind: &str| json!({"type": "object", "properties": {"kind": {"const": kind}}, "required": ["kind"]});
    let object =
        |member: &str| json!({"type": "object", "properties": {member: {"type": "string"}}, "required": [member]});
    let schema = json!({"$defs": {
        "Failure": {"anyOf": [tagged("policy"), tagged("timeout"), tagged("limit")]},
        "Place": {"anyOf": [object("city"), object("river")]},
        "Report": {"type": "object", "properties": {"place": {"anyOf": [object("sea"), {"$ref": "#/$defs/Place"}]}}},
    }});
    let alone = names_of_first(&schema, &["2099-01-01"]);
    let expected = ["FailureLimit", "FailurePolicy", "FailureTimeout"];
    assert!(
        expected.iter().all(|name| alone.contains(&(*name).to_owned())),
        "{alone:?}"
    );
    assert_eq!(names_of_first(&schema, &["2099-01-01", "2099-02-02"]), alone);
}
