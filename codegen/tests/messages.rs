//! What is refused about messages can be allowed by the lines that the report shows.

use std::fs;
use std::path::{Path, PathBuf};

use mcp_codegen::model_yaml;

/// A tree of schemas, one revision after the other: the name, the schema and the overlay of each.
fn tree(revisions: &[(&str, &str, &str)]) -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    let mut manifest = String::from("revisions:\n");
    for (revision, schema, overlay) in revisions {
        let directory = tree.path().join(revision);
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("schema.json"), schema).unwrap();
        fs::write(directory.join("overlay.yaml"), overlay).unwrap();
        manifest += &format!(
            "- {{revision: {revision}, source: 'https://example.org', sha256: {}, dialect: 2020-12}}\n",
            "0".repeat(64)
        );
    }
    fs::write(tree.path().join("revisions.yaml"), manifest).unwrap();
    tree
}

fn model(revisions: &[(&str, &str, &str)], of: &str) -> Result<yaml_serde::Value, String> {
    let yaml = model_yaml(tree(revisions).path(), of).map_err(|error| error.to_string())?;
    Ok(yaml_serde::from_str(&yaml).unwrap())
}

/// The methods of a model, each with its results.
fn methods(model: &yaml_serde::Value) -> Vec<(String, String)> {
    let methods = model["methods"].as_sequence().unwrap().iter();
    let results = |method: &yaml_serde::Value| match &method["results"] {
        yaml_serde::Value::Sequence(results) => yaml_serde::to_string(results).unwrap().trim().to_owned(),
        _ => String::new(),
    };
    methods
        .map(|method| (method["name"].as_str().unwrap().to_owned(), results(method)))
        .collect()
}

fn golden(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(case)
}

const REQUEST: &str = r#"{"$defs": {
  "PingRequest": {"type": "object", "properties": {"method": {"const": "ping"}}, "required": ["method"]},
  "EmptyResult": {"type": "object"}
}}"#;
const SAID: &str = "results: [{method: [ping], result: EmptyResult, why: so, link: 'https://example.org'}]";

#[test]
fn the_lines_of_the_report_allow_what_it_refuses() {
    let schema = fs::read_to_string(golden("messages_that_would_be_lost").join("schema.json")).unwrap();
    let report = model(&[("r1", &schema, "")], "r1").unwrap_err();
    let mut overlay = String::new();
    for section in ["corrections", "results"] {
        overlay += &format!("{section}:\n");
        let lines = report.lines().filter_map(|line| {
            let (_, rest) = line.split_once(&format!("this line under `{section}` "))?;
            Some(&rest[rest.find("- {")?..])
        });
        lines.for_each(|line| overlay += &format!("  {line}\n"));
    }
    let allowed = model(&[("r1", &schema, &overlay)], "r1").unwrap();
    let methods = methods(&allowed);
    let methods: Vec<&str> = methods.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(methods, ["ask", "poke", "notifications/changed"], "{overlay}");
}

#[test]
fn a_result_that_an_earlier_overlay_states_holds_for_later_revisions() {
    let revisions = |first, second| [("r1", REQUEST, first), ("r2", REQUEST, second)];
    let expected = [("ping".to_owned(), "- named: EmptyResult".to_owned())];
    assert_eq!(methods(&model(&revisions(SAID, ""), "r2").unwrap()), expected);
    let report = model(&revisions("", SAID), "r2").unwrap_err();
    assert!(report.contains("r1/schema.json:2:"), "{report}");
    assert!(!report.contains("r2/schema.json"), "{report}");
}

#[test]
fn an_entry_for_a_request_or_a_result_that_is_not_there_is_refused() {
    let overlay = "results: [{method: [ping, pong], result: EmptyResult, alternatives: [Other], why: so, link: 'https://example.org'}]";
    let report = model(&[("r1", REQUEST, overlay)], "r1").unwrap_err();
    let problems: Vec<&str> = report.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(problems.len(), 2, "{report}");
    assert!(
        problems[0].ends_with("overlay.yaml:1:11: #/results/0: the revision has no request `pong`"),
        "{report}"
    );
    assert!(
        problems[1].ends_with("overlay.yaml:1:11: #/results/0: the schema has no definition `Other`"),
        "{report}"
    );
}
