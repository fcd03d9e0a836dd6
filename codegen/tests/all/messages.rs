//! Problems of messages, facts, error codes and deep types, and the overlay entries that the report suggests.

use std::fs;
use std::path::{Path, PathBuf};

use mcp_codegen::{model_yaml, revision_tables};
use serde_json::{Value, json};

/// A schema directory with these revisions: the name, the schema and the overlay of each.
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
  "EmptyResult": {"type": "object"},
  "Pong": {"type": "object"}
}}"#;
const SAID: &str = "results: [{method: [ping], result: Pong, why: so, link: 'https://example.org'}]";

/// Returns the methods of the model of a golden case, with the overlay entries that its report suggests.
fn methods_with_the_suggested_entries(case: &str) -> Vec<String> {
    let schema = fs::read_to_string(golden(case).join("schema.json")).unwrap();
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
    let allowed = model(&[("r1", &schema, &overlay)], "r1").unwrap_or_else(|problems| panic!("{overlay}: {problems}"));
    methods(&allowed).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn the_overlay_entries_that_the_report_suggests_resolve_its_problems() {
    for (case, methods) in [
        (
            "messages_that_would_be_lost",
            &["ask", "poke", "notifications/changed", "notifications/unnamed"][..],
        ),
        (
            "unions_of_one_inlined_message_by_other_names",
            &["call", "notifications/tick"],
        ),
        (
            "requests_in_results_without_direction_unions",
            &["ask", "call", "list", "roots"],
        ),
        ("long_chains_of_types", &[]),
        ("messages_without_a_type", &["call"]),
        (
            "a_union_of_messages_beside_that_of_the_other_side",
            &["ask", "call", "tell"],
        ),
        (
            "several_methods_that_would_be_lost",
            &["ask", "quiz", "rate", "show", "tell"],
        ),
    ] {
        assert_eq!(methods_with_the_suggested_entries(case), methods, "{case}");
    }
}

#[test]
fn a_result_declared_in_an_earlier_overlay_applies_to_later_revisions() {
    for (overlays, of, result) in [([SAID, ""], "r2", "Pong"), (["", SAID], "r1", "EmptyResult")] {
        let revisions = [("r1", REQUEST, overlays[0]), ("r2", REQUEST, overlays[1])];
        let found = methods(&model(&revisions, of).unwrap());
        assert_eq!(found, [("ping".to_owned(), format!("- {result}"))]);
    }
}

#[test]
fn a_request_without_a_result_has_the_only_one_of_no_request_or_else_the_empty_one() {
    let schema = |unions: &str| {
        format!(
            r##"{{"$defs": {{
            "PingRequest": {{"type": "object", "properties": {{"method": {{"const": "ping"}}}}, "required": ["method"]}},
            "EmptyResult": {{"type": "object"}},
            "Pong": {{"type": "object", "properties": {{"at": {{"type": "string"}}}}, "required": ["at"]}}{unions}}}}}"##
        )
    };
    let one = r##", "ServerResult": {"anyOf": [{"$ref": "#/$defs/EmptyResult"}, {"$ref": "#/$defs/Pong"}]}"##;
    for (unions, result) in [(one, "Pong"), ("", "EmptyResult")] {
        let found = methods(&model(&[("r1", &schema(unions), "")], "r1").unwrap());
        assert_eq!(found, [("ping".to_owned(), format!("- {result}"))]);
    }
    let two = r##", "ServerResult": {"anyOf": [{"$ref": "#/$defs/Wow"}, {"$ref": "#/$defs/Pong"}]}, "Wow": {"type": "object"}"##;
    let report = model(&[("r1", &schema(two), "")], "r1").unwrap_err();
    let help =
        "name its result, such as one of no other request (Pong, Wow), or if it is empty, define it by this line";
    assert!(report.contains(help), "{report}");
}

#[test]
fn an_entry_for_an_unknown_request_or_result_is_refused() {
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

const LISTED: &str = r##"{"$defs": {
  "CallRequest": {"type": "object", "properties": {
    "method": {"const": "tools/call"},
    "params": {"type": "object", "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}}, "required": ["name"]}
  }, "required": ["method", "params"]},
  "CallResult": {"type": "object"},
  "ListRequest": {"type": "object", "properties": {
    "method": {"const": "tools/list"},
    "params": {"type": "object", "properties": {"cursor": {"type": "string"}}}
  }, "required": ["method"]},
  "ListResult": {"type": "object", "properties": {
    "tools": {"type": "array", "items": {"$ref": "#/$defs/Tool"}},
    "nextCursor": {"type": "string"}
  }, "required": ["tools"]},
  "Tool": {"type": "object", "properties": {"name": {"type": "string"}, "inputSchema": {"type": "object"}}, "required": ["name", "inputSchema"]}
}}"##;
const FACTS: &str = "facts:
  version_header: Version
  session_header: null
  statuses: {-32601: 404}
  mirrors:
    method: Method
    params:
      Name: {tools/call: name}
    arguments:
      prefix: Param-
      keyword: x-header
      call: {method: tools/call, name: name, arguments: arguments}
      list: {method: tools/list, items: tools, name: name, schema: inputSchema, cursor: cursor, next: nextCursor}
";

#[test]
fn facts_about_headers_and_statuses_must_fit_their_revision() {
    model(&[("r1", LISTED, FACTS)], "r1").unwrap();
    for (right, wrong, complaint) in [
        (
            "version_header: Version",
            "version_header: 'A B'",
            "\"A B\" can't be the name of a header",
        ),
        (
            "prefix: Param-",
            "prefix: 'Param:'",
            "\"Param:\" can't be the name of a header",
        ),
        ("Name:", "'': ", "\"\" can't be the name of a header"),
        ("Name:", "method:", "two mirrors have the header `method`"),
        ("-32601: 404", "-32000: 404", "the revision has no error code -32000"),
        ("-32601: 404", "-32601: 200", "200 isn't an HTTP status of an error"),
        (
            "Name: {tools/call: name",
            "Name: {tools/gone: name",
            "the revision has no request `tools/gone`",
        ),
        (
            "{tools/call: name}",
            "{tools/call: label}",
            "`tools/call` has no parameter `label`",
        ),
        (
            "arguments: arguments",
            "arguments: args",
            "`tools/call` has no parameter `args`",
        ),
        ("cursor: cursor", "cursor: page", "`tools/list` has no parameter `page`"),
        (
            "items: tools",
            "items: things",
            "the result of `tools/list` has no member `things`",
        ),
        (
            "schema: inputSchema",
            "schema: input",
            "an element of `tools` of `tools/list` has no member `input`",
        ),
    ] {
        assert!(FACTS.contains(right), "{right}");
        let report = model(&[("r1", LISTED, &FACTS.replacen(right, wrong, 1))], "r1").unwrap_err();
        assert!(report.contains(complaint), "{wrong}: {report}");
        assert!(report.contains("overlay.yaml:"), "{report}");
    }
    let status = "error_codes: [{name: ODD, code: -32000, status: 99, why: so, link: 'https://example.org'}]";
    let report = model(&[("r1", LISTED, status)], "r1").unwrap_err();
    assert!(report.contains("99 isn't an HTTP status of an error"), "{report}");
}

#[test]
fn an_error_with_an_invalid_or_duplicate_name_is_refused() {
    let entry = |name: &str, code: i64| format!("{{name: {name}, code: {code}, why: so, link: 'https://example.org'}}");
    for (name, complaint) in [
        ("odd name", r#""odd name" can't be the name of a constant"#),
        ("'1ST'", r#""1ST" can't be the name of a constant"#),
        ("GOOD", "another error is called GOOD"),
    ] {
        let overlay = format!("error_codes: [{}, {}]", entry("GOOD", -32000), entry(name, -32001));
        let report = model(&[("r1", LISTED, &overlay)], "r1").unwrap_err();
        assert!(report.contains(complaint), "{report}");
        assert!(report.contains("overlay.yaml:1:"), "{report}");
    }
}

#[test]
fn inherited_facts_must_fit_the_later_revision_too() {
    let later = LISTED.replace(
        r#""name": {"type": "string"}, "arguments""#,
        r#""name": {"type": "integer"}, "arguments""#,
    );
    let later = later
        .replace("\"nextCursor\"", "\"next\"")
        .replace("\"required\": [\"tools\"]", "\"required\": [\"tools\", \"next\"]");
    let own = "facts: {mirrors: {method: Method, params: {Name: {tools/call: name}}}}";
    assert_eq!(mirrors_of_second(&later, ""), mirrors_of_second(&later, own));
}

fn mirrors_of_second(later: &str, overlay: &str) -> Value {
    let tables = revision_tables(tree(&[("r1", LISTED, FACTS), ("r2", later, overlay)]).path()).unwrap();
    let mut table: Value = serde_json::from_str(&tables[1].table).unwrap();
    table["facts"]["mirrors"].take()
}

#[test]
fn inherited_facts_have_the_names_of_the_later_revision() {
    let names = [
        ("\"nextCursor\"", "\"next\""),
        ("\"cursor\"", "\"page\""),
        ("\"tools\"", "\"items\""),
        ("\"inputSchema\"", "\"parameters\""),
        ("\"arguments\"", "\"input\""),
        ("\"name\"", "\"id\""),
        ("tools/list", "tools/enumerate"),
        ("tools/call", "tools/invoke"),
    ];
    let rename = |schema: String, (from, to): &(&str, &str)| {
        assert!(schema.contains(from), "{from}");
        schema.replace(from, to)
    };
    let later = names.iter().fold(LISTED.to_owned(), rename);
    let call = json!({"method": "tools/invoke", "name": "id", "arguments": "input"});
    let list = json!({"method": "tools/enumerate", "items": "items", "name": "id", "schema": "parameters", "cursor": "page", "next": "next"});
    assert_eq!(
        mirrors_of_second(&later, ""),
        json!({
            "method": "Method",
            "params": {"Name": {"tools/invoke": "id"}},
            "arguments": {"prefix": "Param-", "keyword": "x-header", "call": call, "list": list}
        })
    );
    let later = LISTED
        .replace("tools/call", "tools/invoke")
        .replace("CallRe", "InvokeRe");
    let params = json!({"Name": {"tools/invoke": "name"}});
    assert_eq!(mirrors_of_second(&later, "")["params"], params);
    // With two candidates, none is certain.
    let later = LISTED.replace("\"cursor\": {", "\"page\": {\"type\": \"string\"}, \"from\": {");
    assert_eq!(mirrors_of_second(&later, "")["arguments"], Value::Null);
}

#[test]
fn types_that_are_too_deep_in_the_order_of_their_members_are_refused() {
    let last = 62;
    // Each link refers to all later ones, and rustc goes from each one to the next.
    let link = |number: usize| {
        let later = (number + 1..=last).map(|later| {
            let reference = format!("#/$defs/Link{later}");
            (format!("to{later}"), json!({ "$ref": reference }))
        });
        let members: serde_json::Map<String, Value> = later.collect();
        (
            format!("Link{number}"),
            json!({"type": "object", "properties": members}),
        )
    };
    let links: serde_json::Map<String, Value> = (10..=last).map(link).collect();
    let schema = json!({ "$defs": links }).to_string();
    let report = model(&[("r1", &schema, "")], "r1").unwrap_err();
    assert!(
        report.contains("types contain each other too deeply for rustc"),
        "{report}"
    );
}

#[test]
fn a_chain_of_thousands_of_types_is_refused() {
    // This many, so that a pass over all types for each type would take the tests a minute.
    let last = 3_000;
    let link = |number: usize| {
        let reference = format!("#/$defs/Link{}", (number + 1) % last);
        let members = json!({"next": {"$ref": reference}});
        (
            format!("Link{number}"),
            json!({"type": "object", "properties": members}),
        )
    };
    for length in [last, last - 1] {
        // The last link of the whole chain refers to the first.
        let links: serde_json::Map<String, Value> = (0..length).map(link).collect();
        let end = (format!("Link{length}"), json!({"type": "string"}));
        let links: serde_json::Map<String, Value> = links.into_iter().chain([end]).collect();
        let schema = json!({ "$defs": links }).to_string();
        let report = model(&[("r1", &schema, "")], "r1").unwrap_err();
        assert!(
            report.contains("types contain each other too deeply for rustc"),
            "{report:.1000}"
        );
    }
}
