//! Withdrawal and renaming of revisions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_codegen::ingest::{IngestOptions, ingest};
use mcp_codegen::load::{Manifest, Revision};
use mcp_codegen::revisions::{RevisionsError, rename, withdraw};
use mcp_codegen::{GenerateOptions, generate, revision_tables};
use serde_json::Value;
use tempfile::TempDir;

/// A schema directory.
struct Fixture {
    directory: TempDir,
}

impl Fixture {
    /// A directory with these revisions, which have the same schema. The first is the hub.
    fn new(revisions: &[&str]) -> Self {
        let directory = TempDir::new().unwrap();
        let file = directory.path().join("official.json");
        fs::write(
            &file,
            r#"{"$defs": {"Thing": {"type": "object", "required": ["kind"]}}}"#,
        )
        .unwrap();
        let house = Self { directory };
        for revision in revisions {
            ingest(&IngestOptions {
                source: Some(format!("https://example.org/{revision}/schema.json")),
                ..IngestOptions::new(house.schema(), name(revision), file.display().to_string())
            })
            .unwrap();
        }
        house.edit("revisions.yaml", |text| {
            text.replace("\nrevisions:", &format!("\nhub: {}\n\nrevisions:", revisions[0]))
        });
        house
    }

    /// A copy of a schema directory.
    fn copy_of(schema: &str) -> Self {
        let house = Self {
            directory: TempDir::new().unwrap(),
        };
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(schema), &house.schema());
        house
    }

    fn schema(&self) -> PathBuf {
        self.directory.path().join("schema")
    }

    fn edit(&self, file: &str, edit: impl FnOnce(String) -> String) {
        let path = self.schema().join(file);
        let text = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, edit(text)).unwrap();
    }

    fn write(&self, file: &str, text: &str) {
        self.edit(file, |_| text.to_owned());
    }

    /// Each file and folder below the schema directory, with its text.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let (mut files, mut left) = (BTreeMap::new(), vec![self.schema()]);
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let text = fs::read_to_string(&path).unwrap_or_default();
                files.insert(path.strip_prefix(self.schema()).unwrap().to_owned(), text);
                left.extend(path.is_dir().then_some(path));
            }
        }
        files
    }

    fn manifest(&self) -> Manifest {
        Manifest::load(&self.schema()).unwrap()
    }

    fn generate(&self) -> Result<(), String> {
        let options = GenerateOptions {
            schema: self.schema(),
            out: self.directory.path().join("generated"),
            crates: String::new(),
            check: false,
        };
        generate(&options).map(|_| ()).map_err(|error| error.to_string())
    }

    /// The warnings of a withdrawal, with paths below the schema directory.
    fn withdraw(&self, revision: &str) -> Vec<String> {
        let done = withdraw(&self.schema(), &name(revision)).unwrap_or_else(|error| panic!("{error}"));
        let schema = format!("{}/", self.schema().display());
        let warnings = done.warnings.iter();
        warnings.map(|warning| warning.replace(&schema, "")).collect()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, target).unwrap()),
        }
    }
}

fn name(revision: &str) -> Revision {
    revision.parse().unwrap()
}

fn rules(at: &str) -> String {
    format!("rules:\n- {{at: {at}, up: {{drop: true}}, why: They differ., link: \"https://example.org/b\"}}\n")
}

#[test]
fn a_withdrawn_revision_leaves_the_files_as_if_it_had_never_been_ingested() {
    let house = Fixture::new(&["a", "c"]);
    let before = house.files();
    let with_b = Fixture::new(&["a", "b", "c"]);
    with_b.edit("revisions.yaml", |text| {
        text.replace("\nrevisions:", "\nversions: {mcp-types-b: 1.0.0}\n\nrevisions:")
    });
    with_b.write("b/overlay.yaml", "facts: {}\n");
    assert_eq!(with_b.withdraw("b"), Vec::<String>::new());
    assert_eq!(with_b.files(), before);
    with_b.generate().unwrap();
}

#[test]
fn withdrawing_warns_of_rules_mentions_and_facts_of_the_revision() {
    let house = Fixture::new(&["a", "b", "c"]);
    house.write("b/overlay.yaml", "facts: {listening: true, version_header: Version}\n");
    house.write(
        "c/overlay.yaml",
        "# As in b.\nfacts: {version_header: Version}\n\n# Not bb, but b.\n",
    );
    house.write("c/adapt.yaml", &rules("Thing.size"));
    house.write("docs.yaml", "Thing: A thing.\n");
    assert_eq!(
        house.withdraw("b"),
        [
            "c/adapt.yaml: the rules are now about a and c",
            "c/adapt.yaml: b is named in line 2",
            "c/overlay.yaml: b is named in line 1, line 4",
            "c had these facts from b; put them under `facts` in its overlay.yaml: listening: true",
            "c/adapt.yaml:2:3: #/rules/0: Thing.size: the rule matches nothing on the way up\n  remove the rule, or see \
             with `cargo xtask adapters` what is planned there",
        ]
    );
}

#[test]
fn withdrawing_the_first_revision_warns_that_the_rules_of_the_next_no_longer_apply() {
    let house = Fixture::new(&["b", "a", "c"]);
    house.write("a/adapt.yaml", "rules: []\n");
    house.edit("revisions.yaml", |text| text.replace("hub: b", "hub: a"));
    let warning = "a/adapt.yaml: the rules are no longer used, because a is the first revision";
    assert_eq!(house.withdraw("b"), [warning]);
}

#[test]
fn withdrawing_the_latest_revision_makes_the_one_before_it_the_hub() {
    let house = Fixture::new(&["a", "b"]);
    house.edit("revisions.yaml", |text| text.replace("hub: a\n", ""));
    assert_eq!(house.withdraw("b"), ["handlers are now written against a"]);
    house.generate().unwrap();
}

#[test]
fn a_withdrawal_that_fails_changes_no_file() {
    let house = Fixture::new(&["a", "b"]);
    fs::create_dir_all(house.schema().join("revisions.yaml.new")).unwrap();
    let before = house.files();
    let withdraw = |revision| withdraw(&house.schema(), &name(revision)).unwrap_err();
    assert!(matches!(withdraw("b"), RevisionsError::Files(_)));
    assert!(matches!(withdraw("a"), RevisionsError::Hub(_)));
    let error = withdraw("d").to_string();
    assert_eq!(error, "revisions.yaml has no revision d; it has a, b");
    assert_eq!(house.files(), before);
}

#[test]
fn results_declared_only_by_a_withdrawn_revision_move_to_its_successor() {
    let house = Fixture::copy_of("../schema");
    let own = "results:\n  - {method: ping, result: ListRootsResult, why: made up, link: \"https://example.org\"}\n";
    house.edit("2024-11-05/overlay.yaml", |text| {
        text.replace("error_codes:\n", &format!("{own}error_codes:\n"))
    });
    let results = || {
        let tables = revision_tables(&house.schema()).unwrap_or_else(|error| panic!("{error}"));
        let tables = tables.into_iter().filter(|table| table.revision != "2024-11-05");
        let methods = tables.map(|made| {
            let table: Value = serde_json::from_str(&made.table).unwrap();
            (made.revision, table["methods"].clone())
        });
        methods.collect::<Vec<_>>()
    };
    let before = results();
    let warnings = house.withdraw("2024-11-05");
    let told = "the overlay of 2025-03-26 now declares the results of ping, as that of 2024-11-05 did";
    assert!(warnings.iter().any(|warning| warning == told), "{warnings:#?}");
    // The other warnings are about rules, and about a definition that no other revision has.
    house.edit("2025-03-26/adapt.yaml", |_| String::new());
    for file in ["docs.yaml", "modules.yaml"] {
        house.edit(file, |text| {
            text.lines()
                .filter(|line| !line.contains("Annotated"))
                .map(|line| format!("{line}\n"))
                .collect()
        });
    }
    assert_eq!(results(), before);
}

#[test]
fn renaming_a_revision_updates_its_folder_manifest_entry_and_mentions() {
    let house = Fixture::new(&["2098-01-01", "draft", "draft-2"]);
    house.edit("revisions.yaml", |text| {
        text.replace(
            "hub: 2098-01-01",
            "hub: draft\n\nlinks: https://example.org/{revision}/schema\n\nversions: {mcp-types-draft: 1.0.0}",
        )
    });
    let text = "# What 2098-01-01 and `draft` can't imply; draft-2 can.\nrules: []\n# https://example.org/draft/schema\n# A draft.\n";
    house.write("draft/adapt.yaml", text);
    house.write(
        "draft-2/adapt.yaml",
        "# What 'draft' and draft-2 can't imply.\nrules: []\n",
    );
    house.write("2098-01-01/docs.yaml", "Thing: A thing that isn't a draft-1.\n");
    let before = house.files();

    let done = rename(&house.schema(), &name("draft"), &name("2099-01-01")).unwrap();
    assert_eq!(done.folder, house.schema().join("2099-01-01"));
    let mentions = done.mentions.iter();
    let mentions = mentions.map(|(path, count)| (path.strip_prefix(house.schema()).unwrap(), *count));
    assert_eq!(
        mentions.collect::<Vec<_>>(),
        [
            (Path::new("2099-01-01/adapt.yaml"), 2),
            (Path::new("draft-2/adapt.yaml"), 1)
        ]
    );
    let left = vec![(house.schema().join("2099-01-01/adapt.yaml"), vec![4])];
    assert_eq!(done.left, left, "it may be a word there");
    let expected = before.into_iter().map(|(path, text)| match path.to_str().unwrap() {
        "revisions.yaml" => (path, house.files()[Path::new("revisions.yaml")].clone()),
        "draft/adapt.yaml" => (
            "2099-01-01/adapt.yaml".into(),
            "# What 2098-01-01 and `2099-01-01` can't imply; draft-2 can.\nrules: []\n# https://example.org/2099-01-01/schema\n# A draft.\n".into(),
        ),
        "draft-2/adapt.yaml" => (path, "# What '2099-01-01' and draft-2 can't imply.\nrules: []\n".into()),
        _ => (path.strip_prefix("draft").map_or(path.clone(), |file| Path::new("2099-01-01").join(file)), text),
    });
    let expected: BTreeMap<PathBuf, String> = expected.collect();
    assert_eq!(
        house.files().keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>()
    );
    assert_eq!(house.files(), expected);

    let manifest = house.manifest();
    let order: Vec<&str> = manifest.revisions.iter().map(|entry| entry.revision.as_str()).collect();
    assert_eq!(order, ["2098-01-01", "2099-01-01", "draft-2"]);
    assert_eq!(manifest.hub, Some(name("2099-01-01")));
    assert_eq!(manifest.version("mcp-types-2099-01-01"), "1.0.0");
    let source = &manifest.entry("2099-01-01").unwrap().source;
    assert_eq!(
        source, "https://example.org/draft/schema.json",
        "where it was read from"
    );
    house.generate().unwrap();
}

#[test]
fn renaming_is_refused_for_a_taken_or_unknown_name_and_changes_no_file() {
    let house = Fixture::new(&["a", "b"]);
    house.write("b/docs.yaml", "Thing: A thing of b.\n");
    fs::create_dir(house.schema().join("left-over")).unwrap();
    fs::create_dir(house.schema().join("revisions.yaml.new")).unwrap();
    let before = house.files();
    let rename = |from, to| rename(&house.schema(), &name(from), &name(to)).unwrap_err();
    assert_eq!(rename("b", "a").to_string(), "there is a revision a already");
    assert_eq!(rename("b", "A").to_string(), "there is a revision a already");
    assert!(matches!(rename("b", "left-over"), RevisionsError::Taken(_)));
    let error = rename("c", "d").to_string();
    assert_eq!(error, "revisions.yaml has no revision c; it has a, b");
    assert!(matches!(rename("b", "c"), RevisionsError::Files(_)));
    assert_eq!(house.files(), before);
}
