//! A revision that nobody published, by data alone: it has sessions again, with a discovery, and other names for what a session
//! does by itself.

use std::fs;
use std::path::{Path, PathBuf};

use mcp_codegen::ingest::{IngestOptions, Position, ingest};
use mcp_codegen::{GenerateOptions, generate};
use serde_json::{Value, json};
use tempfile::TempDir;

const LATEST: &str = "2026-07-28";
const MADE_UP: &str = "2099-01-01";

/// What the methods and members of the latest revision are called in the one that is made up.
const RENAMED: [(&str, &str); 12] = [
    ("notifications/cancelled", "notifications/aborted"),
    ("notifications/message", "notifications/logged"),
    ("notifications/progress", "notifications/advanced"),
    (
        "notifications/subscriptions/acknowledged",
        "notifications/changes/watching",
    ),
    ("server/discover", "session/describe"),
    ("subscriptions/listen", "changes/watch"),
    ("io.modelcontextprotocol/logLevel", "org.example/level"),
    ("io.modelcontextprotocol/serverInfo", "org.example/host"),
    ("io.modelcontextprotocol/subscriptionId", "org.example/watch"),
    ("resultType", "resultSort"),
    ("toolsListChanged", "toolsNews"),
    ("resourceSubscriptions", "news"),
];

/// What it has that the latest revision lost.
const NEW: [(&str, &str); 2] = [("begin", "session/open"), ("begun", "notifications/opened")];

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A text of the latest revision in the words of the one that is made up.
fn renamed(text: &str) -> String {
    RENAMED
        .iter()
        .fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
}

/// The schema: that of the latest revision with other names, a handshake, and nothing about the client in a request.
fn made_up_schema() -> Value {
    let latest = read(&here("../schema").join(LATEST).join("schema.json"));
    let mut schema: Value = serde_json::from_str(&renamed(&latest)).unwrap();
    let definitions = schema["$defs"].as_object_mut().unwrap();
    let new: Value = serde_json::from_str(&read(&here("tests/made_up/definitions.json"))).unwrap();
    definitions.extend(new.as_object().unwrap().clone());
    let meta = &mut definitions["RequestMetaObject"];
    meta.as_object_mut().unwrap().remove("required");
    let keys = meta["properties"].as_object_mut().unwrap();
    keys.retain(|key, _| !key.starts_with("io.modelcontextprotocol/"));
    let requests = definitions["ClientRequest"]["anyOf"].as_array_mut().unwrap();
    requests.push(json!({"$ref": "#/$defs/OpenRequest"}));
    let notifications =
        ["CancelledNotification", "OpenNotification"].map(|name| json!({"$ref": format!("#/$defs/{name}")}));
    definitions["ClientNotification"] = json!({"anyOf": notifications});
    schema
}

/// A file about all revisions in which each name of the latest one has the new name beside it.
fn with_new_names(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let Some((key, name)) = line.split_once(": ").filter(|_| !line.starts_with('#')) else {
            return format!("{line}\n");
        };
        let known = RENAMED.iter().find(|(old, _)| *old == name).map(|(_, new)| new);
        let known = known.or_else(|| NEW.iter().find(|(role, _)| *role == key).map(|(_, new)| new));
        match (known, RENAMED.iter().find(|(old, _)| *old == key)) {
            (Some(new), _) => format!("{key}: [{name}, {new}]\n"),
            (None, Some((_, new))) => format!("{line}\n{new}: {name}\n"),
            (None, None) => format!("{line}\n"),
        }
    });
    lines.collect()
}

/// Copies the files of a directory and of those in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).unwrap()),
        }
    }
}

/// Ingests the revision into a copy of the schemas.
fn ingested(root: &Path) -> GenerateOptions {
    let schema = root.join("schema");
    copy(&here("../schema"), &schema);
    for file in ["lifecycle.yaml", "capabilities.yaml"] {
        let text = with_new_names(&read(&schema.join(file)));
        fs::write(schema.join(file), text).unwrap();
    }
    let own = schema.join(MADE_UP);
    fs::create_dir_all(&own).unwrap();
    let overlay = renamed(&read(&schema.join(LATEST).join("overlay.yaml")));
    fs::write(own.join("overlay.yaml"), overlay).unwrap();
    fs::copy(here("tests/made_up/adapt.yaml"), own.join("adapt.yaml")).unwrap();
    let official = root.join("official.json");
    fs::write(&official, made_up_schema().to_string()).unwrap();
    let added = ingest(&IngestOptions {
        schema: schema.clone(),
        revision: MADE_UP.parse().unwrap(),
        from: official.display().to_string(),
        source: Some("https://example.org/schema.json".into()),
        commit: None,
        accept: false,
        keep_prose: false,
        draft: Some(true),
        position: Position::Keep,
    });
    added.unwrap_or_else(|error| panic!("{error}"));
    GenerateOptions {
        schema,
        out: root.join("generated"),
        crates: "../..".to_owned(),
        check: false,
    }
}

/// The section of a text after a line.
fn after<'t>(text: &'t str, line: &str) -> &'t str {
    text.split_once(line)
        .unwrap_or_else(|| panic!("there is no {line:?} in {text}"))
        .1
}

#[test]
fn a_revision_that_renames_what_a_session_does_and_has_a_handshake_again_is_taken_by_data_alone() {
    let root = TempDir::new().unwrap();
    let options = ingested(root.path());
    generate(&options).unwrap_or_else(|error| panic!("{error}"));
    let adapters = options.out.join("mcp-adapters");

    let table = read(&adapters.join("src/peer_types.rs"));
    let lifecycle = after(&table, "        V2099_01_01 {\n");
    let lifecycle = lifecycle.split_once("        }\n").unwrap().0;
    let members = "name: Some(\"revision\"), capabilities: Some(\"offers\")";
    for row in [
        "acknowledge: Some(\"notifications/changes/watching\")".to_owned(),
        "begin: Some(\"session/open\")".to_owned(),
        "begun: Some(\"notifications/opened\")".to_owned(),
        "cancel: Some(\"notifications/aborted\")".to_owned(),
        "discover: Some(\"session/describe\")".to_owned(),
        "listen: Some(\"changes/watch\")".to_owned(),
        "log: Some(\"notifications/logged\")".to_owned(),
        "filter_tools: Some(\"toolsNews\")".to_owned(),
        "filter_uris: Some(\"news\")".to_owned(),
        "meta_log_level: Some(\"org.example/level\")".to_owned(),
        "meta_server: Some(\"org.example/host\")".to_owned(),
        "meta_subscription: Some(\"org.example/watch\")".to_owned(),
        "progress: Some(\"notifications/advanced\")".to_owned(),
        "result_kind: Some(\"resultSort\")".to_owned(),
        format!("begin_params: Members {{ {members}, implementation: Some(\"guest\"), ..Members::NONE }}"),
        format!(
            "begin_result: Members {{ {members}, implementation: Some(\"host\"), text: Some(\"advice\"), ..Members::NONE }}"
        ),
    ] {
        assert!(lifecycle.contains(&row), "{row} isn't in {lifecycle}");
    }
    assert!(!lifecycle.contains("meta_version"), "{lifecycle}");

    // A method by another name is the same for a session, and so its messages are converted.
    let report = read(&adapters.join("ADAPTERS.md"));
    for (from, to) in [(LATEST, MADE_UP), (MADE_UP, LATEST)] {
        let way = after(&report, &format!("## {from} to {to}\n"));
        let way = way.split_once("\n## ").map_or(way, |(way, _)| way);
        for (old, new) in &RENAMED[..6] {
            for method in [old, new] {
                assert!(
                    !way.contains(&format!("`{method}`")),
                    "{from} to {to}: {method} isn't converted"
                );
            }
        }
    }
    let requests = read(&adapters.join("src/v2099_01_01_to_v2026_07_28.rs"));
    assert!(requests.contains("LoggingMessage => LoggingMessage"), "{requests}");
}
