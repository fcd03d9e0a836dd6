//! Checks of the files that apply to all revisions: each entry must refer to something that some revision declares.

use std::fs;

use mcp_codegen::model_yaml;

const SCHEMA: &str = r##"{"$defs": {
  "PingRequest": {"type": "object", "properties": {"method": {"const": "ping"}, "params": {"type": "object", "properties": {"loud": {}}}}, "required": ["method"]},
  "PingResult": {"type": "object", "properties": {"pong": {"type": "string"}}},
  "ClientCapabilities": {"type": "object", "properties": {
    "ping": {"type": "object", "properties": {"loud": {}}},
    "nullable": {"anyOf": [{"type": "object", "properties": {"loud": {}}}, {"type": "null"}]}
  }}
}}"##;

/// A schema directory with one revision and a shared file of this name and text.
fn tree(schema: &str, name: &str, text: &str) -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    let sha256 = "0".repeat(64);
    let manifest =
        format!("revisions:\n- {{revision: a, source: 'https://example.org', sha256: {sha256}, dialect: 2020-12}}\n");
    fs::write(tree.path().join("revisions.yaml"), manifest).unwrap();
    fs::write(tree.path().join(name), text).unwrap();
    fs::create_dir(tree.path().join("a")).unwrap();
    fs::write(tree.path().join("a/schema.json"), schema).unwrap();
    tree
}

/// Returns the problems of such a directory.
fn report(name: &str, text: &str) -> String {
    let tree = tree(SCHEMA, name, text);
    match model_yaml(tree.path(), "a") {
        Ok(_) => String::new(),
        Err(error) => {
            let report = error.to_string();
            let problems = report.lines().filter(|line| !line.starts_with(' '));
            let shown = problems.map(|line| line.split_once(name).map_or(line, |(_, rest)| rest));
            shown.collect::<Vec<_>>().join("\n")
        }
    }
}

#[test]
fn entries_about_declared_methods_and_members_are_accepted() {
    for (name, text) in [
        (
            "capabilities.yaml",
            "ping: ClientCapabilities.ping\nping loud=yes: [ClientCapabilities.ping.loud]\n\
             ping loud=no: ClientCapabilities.nullable.loud\n\
             ping loud!=yes: ClientCapabilities.ping.loud or empty\n",
        ),
        ("lifecycle.yaml", "ping: ping\n"),
        ("modules.yaml", "base: [PingRequest]\n"),
        ("tolerances.yaml", "- {at: PingResult.pong, beside: pong, read: null}\n"),
    ] {
        assert_eq!(report(name, text), "", "{name}");
    }
}

#[test]
fn capabilities_for_unknown_methods_parameters_or_members_are_refused() {
    let text = "pong: ClientCapabilities.ping\nping quiet=yes: [ClientCapabilities.ping]\nping: [ClientCapabilities.ping, ClientCapabilities.ping.quiet]\n";
    assert_eq!(
        report("capabilities.yaml", text),
        ":1:7: #/pong: no revision has the method `pong`\n\
         :2:17: #/ping quiet=yes: no revision's `ping` has the parameter `quiet`\n\
         :3:7: #/ping: no revision declares `ClientCapabilities.ping.quiet`"
    );
}

#[test]
fn an_unknown_role_and_a_role_of_an_unknown_method_are_refused() {
    assert_eq!(
        report("lifecycle.yaml", "ping: pong\nbegn: ping\n"),
        ":1:7: #/ping: no revision has the method `pong`\n:2:7: #/begn: there is no role `begn`"
    );
}

#[test]
fn every_name_listed_for_a_role_must_exist_in_some_revision() {
    assert_eq!(
        report(
            "lifecycle.yaml",
            "ping: [pong, ping]\nmeta.version: pang\nmeta.client: pong\n"
        ),
        ":1:7: #/ping: no revision has the method `pong`\n:2:15: #/meta.version: no revision declares the member `pang`"
    );
}

#[test]
fn a_role_whose_method_lacks_the_members_that_a_session_needs_is_refused() {
    assert_eq!(
        report("lifecycle.yaml", "cancel: ping\nmeta.version: pong\n"),
        ":1:9: #/cancel: `ping` of revision a has no parameter with the id of a request\n\
         :2:15: #/meta.version: `pong` of revision a has no key for the client's capabilities beside it"
    );
}

#[test]
fn the_line_that_names_the_member_of_a_missing_role_or_the_correction_of_its_type_is_suggested() {
    let members = r#""pong": {"type": "string"}"#;
    let retyped = format!(r#"{members}, "pang": {{"type": "boolean"}}"#);
    for (schema, help) in [
        (
            SCHEMA.to_owned(),
            "add that name in lifecycle.yaml: `meta.capabilities: [pang, …]`",
        ),
        (
            SCHEMA.replace(members, &retyped),
            "the schema has another type of `pang` than an object: ",
        ),
    ] {
        let tree = tree(
            &schema,
            "lifecycle.yaml",
            "meta.version: pong\nmeta.capabilities: pang\n",
        );
        let refused = model_yaml(tree.path(), "a").unwrap_err().to_string();
        assert!(refused.contains(help), "{refused}");
    }
}

const CANCEL: &str = r##"{"$defs": {
  "JSONRPCRequest": {"type": "object", "properties": {"jsonrpc": {"const": "2.0"}, "id": {"type": ["string", "integer"]}}, "required": ["jsonrpc", "id"]},
  "CancelNotification": {"type": "object", "properties": {"method": {"const": "cancel"}, "params": {"$ref": "#/$defs/Params"}}, "required": ["method"]},
  "Params": {"type": "object", "properties": {"requestId": {"type": "string"}}}
}}"##;

const REFERENCES: &str = r##"corrections:
- {at: "#/$defs/RequestId", to: {type: [string, integer]}, why: so, link: "https://example.org"}
- {at: "#/$defs/JSONRPCRequest/properties/id", expect: {type: [string, integer]}, to: {$ref: "#/$defs/RequestId"}, why: so, link: "https://example.org"}
- {at: "#/$defs/Params/properties/requestId", expect: {type: string}, to: {$ref: "#/$defs/RequestId"}, why: so, link: "https://example.org"}
"##;

#[test]
fn an_id_of_a_request_with_another_type_than_the_ids_is_refused_with_the_corrections_to_write() {
    let tree = tree(CANCEL, "lifecycle.yaml", "cancel: cancel\n");
    let refused = model_yaml(tree.path(), "a").unwrap_err().to_string();
    assert!(
        refused.contains("`cancel` of revision a has no parameter with the id of a request"),
        "{refused}"
    );
    assert!(
        refused.contains(r##"`to` is a reference such as {$ref: "#/$defs/RequestId"}"##),
        "{refused}"
    );
    fs::write(tree.path().join("a/overlay.yaml"), REFERENCES).unwrap();
    let model = model_yaml(tree.path(), "a").unwrap();
    assert!(model.contains("request: requestId"), "{model}");
}

#[test]
fn of_several_members_the_usual_or_the_required_one_has_a_role() {
    let texts = r#"{"type": "array", "items": {"type": "string"}}"#;
    let flag = r#"{"type": "object", "properties": {"tools": {"type": "boolean"}}}"#;
    let schema = format!(
        r##"{{"$defs": {{
      "ServerCapabilities": {{"type": "object", "properties": {{"a": {{}}}}}},
      "Version": {{"type": "string", "pattern": "^v"}},
      "FindRequest": {{"type": "object", "properties": {{"method": {{"const": "find"}}}}, "required": ["method"]}},
      "FindResult": {{
        "type": "object",
        "properties": {{
          "capabilities": {{"$ref": "#/$defs/ServerCapabilities"}},
          "earlierCapabilities": {{"$ref": "#/$defs/ServerCapabilities"}},
          "languages": {texts}, "knownVersions": {{"type": "array", "items": {{"$ref": "#/$defs/Version"}}}}, "schemaVersion": {{"type": "string"}}, "locale": {{"type": "string"}}
        }},
        "required": ["capabilities", "languages", "knownVersions", "schemaVersion", "locale"]
      }},
      "AckNotification": {{
        "type": "object",
        "properties": {{"method": {{"const": "ack"}}, "params": {{"type": "object", "properties": {{"changes": {{"anyOf": [{flag}, {{"type": "null"}}]}}}}}}}},
        "required": ["method"]
      }}
    }}}}"##
    );
    let tree = tree(
        &schema,
        "lifecycle.yaml",
        "discover: find\nacknowledge: ack\nfilter.tools: tools\n",
    );
    let presets = ["languages", "schemaVersion", "locale"].map(|name| {
        let value = if name == "languages" { "[]" } else { "\"\"" };
        format!("- {{at: '#/$defs/FindResult/properties/{name}/x-preset', to: {value}, why: so, link: 'https://example.org'}}\n")
    });
    let report = model_yaml(tree.path(), "a").unwrap_err().to_string();
    assert!(
        !report.contains("has no member") && report.contains("`x-preset`"),
        "{report}"
    );
    fs::write(
        tree.path().join("a/overlay.yaml"),
        format!("corrections:\n{}", presets.concat()),
    )
    .unwrap();
    let model = model_yaml(tree.path(), "a").unwrap();
    for member in [
        "filter: changes",
        "capabilities: capabilities",
        "versions: knownVersions",
    ] {
        assert!(model.contains(member), "{model}");
    }
}

#[test]
fn an_enumeration_names_revisions_only_in_a_member_with_the_usual_name() {
    let schema = |member: &str| {
        format!(
            r##"{{"$defs": {{
      "ServerCapabilities": {{"type": "object", "properties": {{"a": {{}}}}}},
      "Version": {{"enum": ["a", "b"]}},
      "FindRequest": {{"type": "object", "properties": {{"method": {{"const": "find"}}}}, "required": ["method"]}},
      "FindResult": {{
        "type": "object",
        "properties": {{
          "capabilities": {{"$ref": "#/$defs/ServerCapabilities"}},
          "{member}": {{"type": "array", "items": {{"$ref": "#/$defs/Version"}}}}
        }},
        "required": ["capabilities"]
      }}
    }}}}"##
        )
    };
    let model = |member: &str| {
        let tree = tree(&schema(member), "lifecycle.yaml", "discover: find\n");
        model_yaml(tree.path(), "a")
    };
    let found = model("supportedVersions").unwrap();
    assert!(found.contains("versions: supportedVersions"), "{found}");
    assert!(found.contains("  versions:\n  - a\n  - b\n"), "{found}");
    let refused = model("supportedModes").unwrap_err().to_string();
    assert!(
        refused.contains("has no member of its result that names revisions"),
        "{refused}"
    );
}

#[test]
fn a_preset_is_suggested_with_a_value_that_the_schema_allows() {
    let schema = r##"{"$defs": {
      "ServerCapabilities": {"type": "object", "properties": {"a": {}}},
      "FindRequest": {"type": "object", "properties": {"method": {"const": "find"}}, "required": ["method"]},
      "FindResult": {
        "type": "object",
        "properties": {
          "capabilities": {"$ref": "#/$defs/ServerCapabilities"},
          "versions": {"type": "array", "items": {"type": "string"}},
          "trace": {"type": "string", "pattern": "^[0-9a-f]+$"},
          "locale": {"type": "string", "minLength": 2, "default": "en"},
          "size": {"type": "integer", "minimum": 1},
          "key": {"type": ["string", "integer"]}
        },
        "required": ["capabilities", "versions", "trace", "locale", "size", "key"]
      }
    }}"##;
    let tree = tree(schema, "lifecycle.yaml", "discover: find\n");
    let report = model_yaml(tree.path(), "a").unwrap_err().to_string();
    for (member, value) in [("trace", "…"), ("locale", "\"en\""), ("size", "1")] {
        let line = format!("{{at: \"#/$defs/FindResult/properties/{member}/x-preset\", to: {value}, ");
        assert!(report.contains(&line), "{report}");
    }
    // Constructors can't give a union a value.
    let help = "members of its type can't have one: correct the schema at #/$defs/FindResult/properties/key ";
    assert!(report.contains(help), "{report}");
}

#[test]
fn a_tolerance_for_an_undeclared_member_is_refused() {
    let text =
        "- {at: [PingResult.pong, PingResult.peng], read: null}\n- {at: PingResult.pong, beside: peng, read: null}\n";
    assert_eq!(
        report("tolerances.yaml", text),
        ":1:3: #/0: no revision declares `PingResult.peng`\n:2:3: #/1: no revision declares `PingResult.peng`"
    );
}

#[test]
fn a_module_with_an_unknown_definition_is_refused() {
    assert_eq!(
        report("modules.yaml", "base: [PingRequest, PongRequest]\n"),
        ":1:21: #/base/1: no revision has the definition `PongRequest`"
    );
}

#[test]
fn an_invalid_or_reserved_module_name_is_refused() {
    for module in ["my mod", "type", "schema", "../tools"] {
        assert_eq!(
            report("modules.yaml", &format!("'{module}': [PingRequest]\n"))
                .split(": ")
                .last(),
            Some(format!("`{module}` can't be the name of a module").as_str())
        );
    }
}

#[test]
fn every_wrong_value_of_a_file_is_reported_at_its_place() {
    for (name, text, problems) in [
        (
            "tolerances.yaml",
            "- {at: 5}\n- {at: PingResult.pong, read: null}\n- {at: PingResult.pong, beside: [], reads: 1}\n",
            ":1:8: #/0/at: expected a string or an array of strings\n\
             :3:33: #/2/beside: expected a string, found an array\n\
             :3:44: #/2/reads: unknown field `reads`, expected one of `at`, `found`, `beside`, `read`",
        ),
        (
            "modules.yaml",
            "a: 5\nbase: [PingRequest, 1]\nb: {c: d}\n",
            ":1:4: #/a: expected an array, found 5\n\
             :2:21: #/base/1: expected a string, found 1\n\
             :3:4: #/b: expected an array, found an object",
        ),
        (
            "docs.yaml",
            "PingRequest: 5\nPingResult: A pong.\nmod base: [a]\n",
            ":1:14: #/PingRequest: expected a string, found 5\n:3:11: #/mod base: expected a string, found an array",
        ),
        (
            "capabilities.yaml",
            "ping: 5\npong: [1]\n",
            ":1:7: #/ping: expected a string or an array of strings\n:2:7: #/pong: expected a string or an array of strings",
        ),
        (
            "lifecycle.yaml",
            "ping: {}\ninitialize: 1\n",
            ":1:7: #/ping: expected a string or an array of strings\n\
             :2:13: #/initialize: expected a string or an array of strings",
        ),
    ] {
        assert_eq!(report(name, text), problems, "{name}");
    }
}
