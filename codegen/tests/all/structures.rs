//! Revisions that have the messages of the revision before in another structure.

use std::fs;
use std::path::PathBuf;

use mcp_codegen::ingest::{IngestOptions, Ingested, ingest};
use mcp_codegen::{adapters_report, model_yaml, revision_tables};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

type Definitions = Map<String, Value>;

/// Corrections of the first revision.
const OVERLAY: &str = r##"
corrections:
  - {at: "#/$defs/CallResult/properties/kind/x-preset", to: whole, why: so, link: "https://example.org"}
"##;

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn union(names: &[&str]) -> Value {
    json!({ "anyOf": names.iter().map(|name| reference(name)).collect::<Vec<_>>() })
}

/// Returns a request, its result with a member of this name, and its response.
fn request(method: &str, member: &str) -> [Value; 3] {
    let version = json!({ "const": "2.0" });
    let request = json!({
        "type": "object",
        "properties": {"jsonrpc": version, "id": reference("RequestId"), "method": {"const": method}},
        "required": ["jsonrpc", "id", "method"],
    });
    let result = json!({
        "type": "object",
        "properties": {"kind": {"type": "string"}, member: {"type": "string"}},
        "required": ["kind"],
    });
    let response = json!({
        "type": "object",
        "properties": {"jsonrpc": version, "id": reference("RequestId"), "result": {}},
        "required": ["jsonrpc", "id", "result"],
    });
    [request, result, response]
}

fn notification(method: &str) -> Value {
    json!({
        "type": "object",
        "properties": {"jsonrpc": {"const": "2.0"}, "method": {"const": method}},
        "required": ["jsonrpc", "method"],
    })
}

/// Returns the definitions of the first revision.
fn definitions() -> Definitions {
    let mut definitions = Definitions::new();
    let mut define = |name: String, schema: Value| definitions.insert(name, schema);
    for (name, method, member) in [
        ("Call", "call", "value"),
        ("Find", "find", "found"),
        ("Ask", "ask", "answer"),
    ] {
        let [request, result, mut response] = request(method, member);
        response["properties"]["result"] = reference(&format!("{name}Result"));
        define(format!("{name}Request"), request);
        define(format!("{name}Result"), result);
        define(format!("{name}ResultResponse"), response);
    }
    let [_, result, mut response] = request("", "kind");
    response["properties"]["result"] = reference("Result");
    for (name, schema) in [
        ("RequestId", json!({"type": ["string", "integer"]})),
        ("Result", result),
        ("AnyResponse", response),
        ("LoggingLevel", json!({"enum": ["low", "high"]})),
        ("TickNotification", notification("notifications/tick")),
        ("TockNotification", notification("notifications/tock")),
        ("ClientRequest", union(&["CallRequest", "FindRequest"])),
        ("ServerRequest", union(&["AskRequest"])),
        ("ClientNotification", notification("notifications/tock")),
        ("ServerNotification", union(&["TickNotification"])),
        ("ServerResult", union(&["CallResult", "FindResult"])),
        ("ClientResult", union(&["AskResult"])),
    ] {
        define(name.to_owned(), schema);
    }
    definitions
}

/// The revisions of a protocol.
struct Revisions(TempDir);

impl Revisions {
    fn new() -> Self {
        let revisions = Self(TempDir::new().unwrap());
        fs::create_dir_all(revisions.schema().join("first")).unwrap();
        fs::write(revisions.schema().join("first/overlay.yaml"), OVERLAY).unwrap();
        revisions.ingest("first", definitions());
        revisions
    }

    fn schema(&self) -> PathBuf {
        self.0.path().join("schema")
    }

    fn ingest(&self, revision: &str, definitions: Definitions) -> Ingested {
        let file = self.0.path().join("official.json");
        let schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions});
        fs::write(&file, schema.to_string()).unwrap();
        let options = IngestOptions::new(self.schema(), revision.parse().unwrap(), file.display().to_string());
        let source = Some("https://example.org/schema.json".to_owned());
        ingest(&IngestOptions { source, ..options }).unwrap_or_else(|error| panic!("{error}"))
    }

    fn model(&self, revision: &str) -> Value {
        let model = model_yaml(&self.schema(), revision).unwrap();
        yaml_serde::from_str(&model).unwrap()
    }

    /// Returns the methods, each with its direction and its results.
    fn methods(&self, revision: &str) -> Vec<String> {
        let model = self.model(revision);
        let text = |method: &Value| {
            let results = method.get("results").unwrap_or(&Value::Null);
            format!("{} {} {results}", method["name"], method["direction"])
        };
        model["methods"].as_array().unwrap().iter().map(text).collect()
    }
}

/// Returns the definitions with other names, and the references to them.
fn renamed(definitions: &Definitions, name: impl Fn(&str) -> String) -> Definitions {
    let renamed = definitions.iter().map(|(old, schema)| {
        let mut schema = schema.to_string();
        for other in definitions.keys() {
            let [old, new] = [other, &name(other)].map(|name| format!("\"#/$defs/{name}\""));
            schema = schema.replace(&old, &new);
        }
        (name(old), serde_json::from_str(&schema).unwrap())
    });
    renamed.collect()
}

/// Moves the result of a request into its response, where `wrap` changes it.
fn inline_result(definitions: &mut Definitions, name: &str, wrap: impl Fn(Value) -> Value) {
    let result = definitions.remove(&format!("{name}Result")).unwrap();
    definitions[&format!("{name}ResultResponse")]["properties"]["result"] = wrap(result);
    definitions["ServerResult"] = reference("Result");
}

#[test]
fn messages_in_another_structure_have_the_same_methods_directions_and_results() {
    type Edit = fn(&mut Definitions);
    let edits: [(&str, Edit); 10] = [
        ("results within responses", |definitions| {
            inline_result(definitions, "Call", |result| result);
            inline_result(definitions, "Find", |result| json!({"anyOf": [result]}));
        }),
        ("an extended result within a response", |definitions| {
            inline_result(
                definitions,
                "Call",
                |result| json!({"allOf": [reference("Result"), result]}),
            );
        }),
        ("responses that extend a common one", |definitions| {
            for name in ["Call", "Find", "Ask"] {
                let own = json!({"type": "object", "properties": {"result": reference(&format!("{name}Result"))}});
                definitions[&format!("{name}ResultResponse")] = json!({"allOf": [reference("AnyResponse"), own]});
            }
        }),
        ("names in a namespace", |definitions| {
            *definitions = renamed(definitions, |name| format!("a.b.{name}"));
        }),
        ("names with a prefix", |definitions| {
            *definitions = renamed(definitions, |name| format!("My{name}"));
        }),
        ("groups of definitions", |definitions| {
            let text = json!(definitions)
                .to_string()
                .replace("#/$defs/Call", "#/$defs/Calls/$defs/Call");
            *definitions = serde_json::from_str(&text).unwrap();
            let names = ["CallRequest", "CallResult", "CallResultResponse"];
            let group: Definitions = names
                .map(|name| (name.to_owned(), definitions.remove(name).unwrap()))
                .into_iter()
                .collect();
            definitions.insert("Calls".to_owned(), json!({ "$defs": group }));
        }),
        ("other names of unions", |definitions| {
            let is_union = |name: &str| ["Client", "Server"].iter().any(|side| name.starts_with(side));
            *definitions = renamed(definitions, |name| match is_union(name) {
                true => name.replace("Client", "Host").replace("Server", "App"),
                false => name.to_owned(),
            });
        }),
        ("no unions", |definitions| {
            definitions.retain(|name, _| !name.starts_with("Client") && !name.starts_with("Server"));
        }),
        ("a definition of two methods", |definitions| {
            let mut both = definitions.remove("CallRequest").unwrap();
            definitions.remove("FindRequest");
            both["properties"]["method"] = json!({"enum": ["call", "find"]});
            definitions.insert("DoRequest".to_owned(), both);
            definitions["ClientRequest"] = union(&["DoRequest"]);
        }),
        ("methods within a union", |definitions| {
            definitions["ClientRequest"] = definitions.remove("CallRequest").unwrap();
            definitions.remove("FindRequest");
            definitions["ClientRequest"]["properties"]["method"] = json!({"enum": ["call", "find"]});
        }),
    ];
    for (what, edit) in edits {
        let revisions = Revisions::new();
        let mut definitions = definitions();
        edit(&mut definitions);
        let ingested = revisions.ingest("second", definitions);
        assert_eq!(revisions.methods("second"), revisions.methods("first"), "{what}");
        assert_eq!(ingested.left_out, [], "{what}");
    }
}

#[test]
fn types_of_definitions_in_a_namespace_are_documented_as_before() {
    let revisions = Revisions::new();
    revisions.ingest("second", renamed(&definitions(), |name| format!("a.b.{name}")));
    let model = revisions.model("second");
    for name in ["CallRequest", "CallResult", "LoggingLevel"] {
        assert_eq!(model["types"][name]["documented_as"], name);
        assert_eq!(model["types"][name]["pointer"], format!("#/$defs/a.b.{name}"));
    }
}

#[test]
fn a_new_message_without_unions_is_sent_by_each_side_that_sends_messages_of_its_kind() {
    let revisions = Revisions::new();
    let mut definitions = definitions();
    definitions.retain(|name, _| !name.starts_with("Client") && !name.starts_with("Server"));
    let [request, result, _] = request("stop", "reason");
    definitions.insert("StopRequest".to_owned(), request);
    definitions.insert("StopResult".to_owned(), result);
    revisions.ingest("second", definitions);
    let mut methods = revisions.methods("second");
    methods.retain(|method| method.contains("stop"));
    assert_eq!(methods, [r#""stop" "both" ["StopResult"]"#]);
}

#[test]
fn an_inherited_overlay_follows_definitions_to_their_new_names() {
    let revisions = Revisions::new();
    let named = renamed(&definitions(), |name| match name.strip_suffix("Result") {
        _ if name == "LoggingLevel" => "Severity".to_owned(),
        Some(stem) if !["", "Server", "Client"].contains(&stem) => format!("{stem}Output"),
        _ => name.to_owned(),
    });
    let ingested = revisions.ingest("second", named);
    assert_eq!(ingested.left_out, []);
    let overlay = fs::read_to_string(ingested.overlay.unwrap()).unwrap();
    assert!(
        overlay.contains(r##"{at: "#/$defs/CallOutput/properties/kind/x-preset", to: whole,"##),
        "{overlay}"
    );
    // Sessions find the level by the name of its type.
    assert!(
        overlay.contains(r##"{at: "#/$defs/Severity/x-name", to: "LoggingLevel","##),
        "{overlay}"
    );
}

#[test]
fn an_inherited_overlay_annotates_members_that_come_from_another_definition() {
    let revisions = Revisions::new();
    let mut definitions = definitions();
    let kind = json!({"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]});
    definitions.insert("Kind".to_owned(), kind);
    let own = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    definitions.insert("CallResult".to_owned(), json!({"allOf": [reference("Kind"), own]}));
    let ingested = revisions.ingest("second", definitions);
    let overlay = fs::read_to_string(ingested.overlay.unwrap()).unwrap();
    assert!(
        overlay.contains(r##"{at: "#/$defs/CallResult/allOf/1/properties/kind", to: {"x-preset":"whole"},"##),
        "{overlay}"
    );
    let result = revisions.model("second")["types"]["CallResult"].to_string();
    assert!(result.contains(r#""preset":"whole""#), "{result}");
}

#[test]
fn corrections_of_several_results_survive_the_renaming_of_one_message() {
    let revisions = Revisions::new();
    fs::create_dir_all(revisions.schema().join("second")).unwrap();
    let places = ["Call", "Find", "Ask"].map(|stem| format!("#/$defs/{stem}Result/properties/kind/x-preset"));
    let overlay = OVERLAY.replace(
        r##""#/$defs/CallResult/properties/kind/x-preset""##,
        &json!(places).to_string(),
    );
    fs::write(revisions.schema().join("second/overlay.yaml"), overlay).unwrap();
    revisions.ingest("second", definitions());
    let ingested = revisions.ingest("third", renamed(&definitions(), |name| name.replace("Call", "Invoke")));
    assert_eq!(ingested.left_out, []);
    let model = revisions.model("third");
    for result in ["InvokeResult", "FindResult"] {
        let members = model["types"][result]["struct"]["members"].as_array().unwrap();
        assert!(members.iter().any(|member| member["preset"] == "whole"), "{result}");
    }
}

#[test]
fn several_results_are_inherited_by_a_schema_without_responses() {
    let mut several = definitions();
    let [_, mut needed, _] = request("", "need");
    needed["properties"]["type"] = json!({"const": "needed"});
    needed["required"] = json!(["type"]);
    several.insert("NeededResult".to_owned(), needed);
    several["CallResult"]["properties"]["type"] = json!({"const": "call"});
    several["CallResult"]["required"] = json!(["kind", "type"]);
    several["CallResultResponse"]["properties"]["result"] = union(&["NeededResult", "CallResult"]);
    let revisions = Revisions::new();
    revisions.ingest("second", several.clone());
    several.retain(|name, _| !name.ends_with("Response"));
    revisions.ingest("third", several);
    let methods = revisions.methods("second");
    let results = r#""call" "client-to-server" ["CallResult","NeededResult"]"#;
    assert!(methods.iter().any(|method| method == results), "{methods:?}");
    // A tag distinguishes the results of both.
    let [second, third] = ["second", "third"].map(|revision| revisions.model(revision)["methods"].clone());
    assert!(second[1].get("result_union").is_some(), "{second}");
    assert_eq!(third, second);
    // Their tags distinguish them, although no definition unites them.
    let tagged = r#""call":{"tag":"type","types":["CallResult","NeededResult"],"values":["call","needed"]}"#;
    for table in &revision_tables(&revisions.schema()).unwrap()[1..] {
        assert!(table.table.contains(tagged), "{}", table.table);
    }
}

#[test]
fn results_with_other_names_stay_those_of_their_requests() {
    let revisions = Revisions::new();
    let end = |name: &str| match name.strip_suffix("Result") {
        Some(start) if !["", "Server", "Client"].contains(&start) => format!("{start}Response"),
        _ => name.replace("ResultResponse", "Reply"),
    };
    let mut other = renamed(&definitions(), end);
    // The end of its name is changed as in the others.
    other["CallResponse"]["properties"]["new"] = json!({"type": "boolean"});
    revisions.ingest("second", other);
    let expected = revisions.methods("first");
    let expected: Vec<_> = expected
        .iter()
        .map(|method| method.replace("Result", "Response"))
        .collect();
    assert_eq!(revisions.methods("second"), expected);
}

#[test]
fn the_changed_code_of_an_error_is_inherited_and_reported_with_the_rule_that_converts_it() {
    let with_codes = |codes: [i64; 2]| {
        let mut definitions = definitions();
        for (name, code) in ["BusyError", "ClosedError"].into_iter().zip(codes) {
            let code = json!({"type": "object", "properties": {"code": {"const": code}}, "required": ["code"]});
            definitions.insert(name.to_owned(), code);
        }
        definitions
    };
    let revisions = Revisions::new();
    let entry = |name: &str, code: i64| {
        format!(
            "{{name: {name}, code: {code}, status: 400, why: It can happen., link: \"https://example.org/errors\"}}"
        )
    };
    let overlay = format!(
        "error_codes: [{}, {}]\n",
        entry("BUSY", -32050),
        entry("CLOSED", -32051)
    );
    fs::create_dir_all(revisions.schema().join("second")).unwrap();
    fs::write(
        revisions.schema().join("second/overlay.yaml"),
        OVERLAY.to_owned() + &overlay,
    )
    .unwrap();
    revisions.ingest("second", with_codes([-32050, -32051]));
    let third = revisions.ingest("third", with_codes([-32050, -1]));
    let [warning] = third.warnings.as_slice() else {
        panic!("{:?}", third.warnings)
    };
    let warning = warning.to_string();
    assert!(
        warning.contains("third has -1 instead of -32051 for CLOSED"),
        "{warning}"
    );
    let rule = "{up: {from: -32051, to: -1}, down: {from: -1, to: -32051}, why: \"…\", link: \"https://…\"}";
    assert!(
        warning.ends_with(&format!("under `errors` in the revision's adapt.yaml: - {rule}")),
        "{warning}"
    );
    let overlay = fs::read_to_string(third.overlay.unwrap()).unwrap();
    let overlay: Value = yaml_serde::from_str(&overlay).unwrap();
    let codes = overlay["error_codes"].as_array().unwrap().iter();
    let codes: Vec<_> = codes.map(|entry| (&entry["code"], &entry["status"])).collect();
    assert_eq!(codes, [(&json!(-32050), &json!(400)), (&json!(-1), &json!(400))]);
}

#[test]
fn a_renamed_member_is_reported_with_the_rule_that_keeps_its_value() {
    let warnings = |edit: &dyn Fn(&mut Definitions)| -> Vec<String> {
        let mut definitions = definitions();
        edit(&mut definitions);
        let warnings = Revisions::new().ingest("second", definitions).warnings;
        warnings.iter().map(ToString::to_string).collect()
    };
    let rename = |definitions: &mut Definitions, ty: &str, [old, new]: [&str; 2]| {
        let members = definitions[ty]["properties"].as_object_mut().unwrap();
        let schema = members.remove(old).unwrap();
        members.insert(new.to_owned(), schema);
    };
    let one = warnings(&|definitions| rename(definitions, "CallResult", ["value", "content"]));
    let [warning] = one.as_slice() else { panic!("{one:?}") };
    assert!(
        warning.contains("second has `content` instead of `value` in CallResult: conversions lose or refuse the value"),
        "{warning}"
    );
    assert!(
        warning.ends_with(r#"- {at: "CallResult.value", renamed: "content", why: "…", link: "https://…"}"#),
        "{warning}"
    );
    let several = warnings(&|definitions| {
        for ty in ["CallResult", "FindResult"] {
            rename(definitions, ty, ["kind", "type"]);
            definitions[ty]["required"] = json!(["type"]);
        }
    });
    let [warning] = several.as_slice() else {
        panic!("{several:?}")
    };
    assert!(
        warning.contains("in CallResult, FindResult") && warning.contains(r#"at: "*.kind", renamed: "type","#),
        "{warning}"
    );
    // The type has another name too.
    let of_renamed_type = warnings(&|definitions| {
        rename(definitions, "CallResult", ["value", "content"]);
        *definitions = renamed(definitions, |name| name.replace("CallResult", "Paged<Called>"));
    });
    let rule = r#"- {at: "CallResult.value", renamed: "content", why: "…", link: "https://…"}"#;
    assert!(
        of_renamed_type.iter().any(|warning| warning.ends_with(rule)),
        "{of_renamed_type:?}"
    );
    // Either of two new members could be meant.
    let unclear = warnings(&|definitions| {
        rename(definitions, "CallResult", ["value", "content"]);
        definitions["CallResult"]["properties"]["text"] = json!({"type": "string"});
    });
    assert_eq!(unclear, [""; 0]);
    // The member has moved into a new one.
    let moved = warnings(&|definitions| {
        let members = definitions["CallResult"]["properties"].as_object_mut().unwrap();
        let value = members.remove("value").unwrap();
        let content = json!({"type": "object", "properties": {"value": value, "text": {"type": "string"}}});
        members.insert("content".to_owned(), content);
    });
    let [warning] = moved.as_slice() else {
        panic!("{moved:?}")
    };
    assert!(
        warning.contains(r#"{at: "CallResult.value", renamed: "content.value","#),
        "{warning}"
    );
    // Two members of the same schema, which have moved into a new one. Their types have names after their places.
    let with_options = |definitions: &mut Definitions, wrap: &dyn Fn(Value) -> Value| {
        let options = json!({"type": "object", "properties": {"size": {"type": "integer"}}});
        let members = json!({"kind": {"type": "string"}, "one": options, "two": options});
        definitions["CallResult"]["properties"] = wrap(members);
    };
    let mut before = definitions();
    with_options(&mut before, &|members| members);
    let mut after = definitions();
    with_options(&mut after, &|mut members| {
        let kind = members.as_object_mut().unwrap().remove("kind");
        json!({"kind": kind, "options": {"type": "object", "properties": members}})
    });
    let revisions = Revisions::new();
    revisions.ingest("second", before);
    let moved = revisions.ingest("third", after).warnings;
    let moved: Vec<String> = moved.iter().map(ToString::to_string).collect();
    let [one, two] = moved.as_slice() else {
        panic!("{moved:?}")
    };
    for (warning, name) in [(one, "one"), (two, "two")] {
        let rule = format!(r#"{{at: "CallResult.{name}", renamed: "options.{name}","#);
        assert!(warning.contains(&rule), "{warning}");
    }
    // A member has moved into an object that both revisions have.
    let with_meta = |definitions: &mut Definitions, is_inside: bool| {
        let value = json!({"type": "string"});
        let mut members =
            json!({"kind": {"type": "string"}, "meta": {"type": "object", "properties": {"size": value}}});
        let object = if is_inside {
            &mut members["meta"]["properties"]
        } else {
            &mut members
        };
        object["value"] = value;
        definitions["CallResult"]["properties"] = members;
    };
    let [mut before, mut after] = [definitions(), definitions()];
    with_meta(&mut before, false);
    with_meta(&mut after, true);
    let revisions = Revisions::new();
    revisions.ingest("second", before);
    let moved = revisions.ingest("third", after).warnings;
    let [warning] = moved.as_slice() else {
        panic!("{moved:?}")
    };
    assert!(
        warning
            .to_string()
            .contains(r#"{at: "CallResult.value", renamed: "meta.value","#),
        "{warning}"
    );
    // A member whose type contains itself, by a reference to its place.
    let with_tree = |definitions: &mut Definitions, at: &str, wrap: &dyn Fn(Value) -> Value| {
        let tree = json!({"type": "object", "properties": {"size": {"type": "integer"}, "child": {"$ref": at}}});
        definitions["CallResult"]["properties"] = wrap(json!({"kind": {"type": "string"}, "tree": tree}));
    };
    let mut before = definitions();
    with_tree(&mut before, "#/$defs/CallResult/properties/tree", &|members| members);
    let mut after = definitions();
    let at = "#/$defs/CallResult/properties/inner/properties/tree";
    with_tree(&mut after, at, &|mut members| {
        let kind = members.as_object_mut().unwrap().remove("kind");
        json!({"kind": kind, "inner": {"type": "object", "properties": members}})
    });
    let revisions = Revisions::new();
    revisions.ingest("second", before);
    let found = revisions.ingest("third", after).warnings;
    assert!(
        found.iter().all(|warning| !warning.to_string().contains("renamed")),
        "{found:?}"
    );
    // The member has moved, and has another name.
    let moved = warnings(&|definitions| {
        let members = definitions["CallResult"]["properties"].as_object_mut().unwrap();
        let value = members.remove("value").unwrap();
        let page = json!({"type": "object", "properties": {"next": value, "size": {"type": "integer"}}});
        members.insert("page".to_owned(), page);
    });
    let [warning] = moved.as_slice() else {
        panic!("{moved:?}")
    };
    assert!(
        warning.contains(r#"{at: "CallResult.value", renamed: "page.next","#),
        "{warning}"
    );
    // The same, into an object of an object, which requires it beside another text.
    let moved = warnings(&|definitions| {
        let members = definitions["CallResult"]["properties"].as_object_mut().unwrap();
        let value = members.remove("value").unwrap();
        let token = json!({"type": "object", "properties": {"id": value, "expires": value}, "required": ["id"]});
        let page = json!({"type": "object", "properties": {"next": token, "size": {"type": "integer"}}});
        members.insert("page".to_owned(), page);
    });
    let [warning] = moved.as_slice() else {
        panic!("{moved:?}")
    };
    assert!(
        warning.contains(r#"{at: "CallResult.value", renamed: "page.next.id","#),
        "{warning}"
    );
    // The member has moved into an element of a list.
    let moved = warnings(&|definitions| {
        let members = definitions["CallResult"]["properties"].as_object_mut().unwrap();
        let value = members.remove("value").unwrap();
        let element = |tag: &str, member: &str| {
            let members = json!({"for": {"const": tag}, member: value});
            json!({"type": "object", "properties": members, "required": ["for"]})
        };
        let elements = json!({"oneOf": [element("user", "text"), element("model", "value")]});
        members.insert("contents".to_owned(), json!({"type": "array", "items": elements}));
    });
    let [warning] = moved.as_slice() else {
        panic!("{moved:?}")
    };
    assert!(
        warning.contains(r#"{at: "CallResult.value", renamed: "contents[for=model].value","#),
        "{warning}"
    );
}

#[test]
fn a_value_with_another_place_in_an_object_is_reported_with_the_rule_that_keeps_it() {
    let hints = json!({"type": "object", "properties": {"readOnly": {"type": "boolean"}, "size": {"type": "integer"}}});
    let rest = json!({"type": "object", "properties": {"size": {"type": "integer"}}});
    let only = json!({"type": "object", "properties": {"readOnly": {"type": "boolean"}}});
    let steps = json!({"type": "array", "items": {"type": "string"}});
    let wrapped = json!({"type": "object", "properties": {"items": steps, "more": {"type": "string"}}});
    let several = json!({"items": steps, "hidden": steps});
    let required = json!({"type": "object", "properties": several, "required": ["items"]});
    let cases = [
        (
            json!({"hints": rest, "readOnly": {"type": "boolean"}}),
            Some(("hints.readOnly", "readOnly")),
        ),
        (
            json!({"hints": rest, "effects": only}),
            Some(("hints.readOnly", "effects.readOnly")),
        ),
        (
            json!({"hints": hints, "steps": wrapped}),
            Some(("steps", "steps.items")),
        ),
        (
            json!({"hints": hints, "steps": required}),
            Some(("steps", "steps.items")),
        ),
        (json!({"hints": {"type": "boolean"}}), Some(("hints.readOnly", "hints"))),
        // Either of two could be meant.
        (
            json!({"hints": rest, "effects": only, "readOnly": {"type": "boolean"}}),
            None,
        ),
        // It has another type.
        (json!({"hints": rest, "readOnly": {"type": "string"}}), None),
    ];
    for (members, expected) in cases {
        let mut definitions = definitions();
        let others = json!({"kind": {"type": "string"}, "value": {"type": "string"}, "steps": steps});
        let mut with = |members: Value| {
            let members = others.as_object().unwrap().iter().chain(members.as_object().unwrap());
            definitions["CallResult"]["properties"] =
                members.map(|(name, schema)| (name.clone(), schema.clone())).collect();
            definitions.clone()
        };
        let revisions = Revisions::new();
        revisions.ingest("second", with(json!({"hints": hints})));
        let warnings = revisions.ingest("third", with(members)).warnings;
        let Some((old, new)) = expected else {
            assert_eq!(warnings, []);
            continue;
        };
        let [warning] = warnings.as_slice() else {
            panic!("{warnings:?}")
        };
        let rule = format!(r#"{{at: "CallResult.{old}", renamed: "{new}", why: "…", link: "https://…"}}"#);
        assert!(warning.to_string().ends_with(&format!("- {rule}")), "{warning}");
        let adapt = format!("rules:\n  - {rule}\n");
        fs::write(revisions.schema().join("third/adapt.yaml"), adapt).unwrap();
        let report = adapters_report(&revisions.schema()).unwrap();
        for place in [old, new] {
            assert!(
                report.contains(&format!("| `CallResult.{place}` | renamed: … |")),
                "{report}"
            );
        }
    }
}

#[test]
fn a_member_of_another_type_is_reported_with_the_rules_that_drop_or_replace_it() {
    let with_total = |total: Value, required: bool| {
        let mut definitions = definitions();
        definitions["CallResult"]["properties"]["total"] = total;
        if required {
            definitions["CallResult"]["required"] = json!(["kind", "total"]);
        }
        definitions
    };
    let replace_up = r#"{at: "CallResult.total[string]", up: {replace: …}"#;
    let replace_down = r#"{at: "CallResult.total[array]", down: {replace: …}"#;
    let cases = [
        ([true, true], vec![replace_up, replace_down]),
        (
            [false, false],
            vec![r#"{at: "CallResult.total", up: {drop: true}, down: {drop: true}"#],
        ),
        (
            [true, false],
            vec![r#"{at: "CallResult.total", up: {drop: true}"#, replace_down],
        ),
    ];
    for (required, expected) in cases {
        let revisions = Revisions::new();
        revisions.ingest("second", with_total(json!({"type": "string"}), required[0]));
        let total = json!({"type": "array", "items": {"type": "integer"}});
        let third = revisions.ingest("third", with_total(total, required[1]));
        let warnings = third.warnings.iter().map(ToString::to_string);
        let warnings: Vec<String> = warnings.filter(|warning| warning.contains("another type")).collect();
        assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
        let mut rules = "rules:\n".to_owned();
        for (warning, expected) in warnings.iter().zip(expected) {
            let (_, rule) = warning.split_once("adapt.yaml: - ").unwrap();
            assert!(rule.starts_with(expected), "{rule}");
            let value = if rule.contains("up: ") { "[1]" } else { "one" };
            rules += &format!("  - {}\n", rule.replace("replace: …", &format!("replace: {value}")));
        }
        fs::write(revisions.schema().join("third/adapt.yaml"), rules).unwrap();
        let report = adapters_report(&revisions.schema()).unwrap();
        assert!(!report.contains("another type"), "{report}");
    }
}

#[test]
fn a_list_whose_elements_are_in_objects_is_reported_with_the_rule_that_keeps_them() {
    let part = |name: &str| {
        let members = json!({"type": {"const": name}, name: {"type": "string"}});
        json!({"type": "object", "properties": members, "required": ["type", name]})
    };
    let with_parts = |name: &str, parts: &str, required: &[&str]| {
        let mut definitions = definitions();
        definitions.insert("Text".to_owned(), part("text"));
        definitions.insert("Link".to_owned(), part("link"));
        definitions.insert("Part".to_owned(), union(&["Text", "Link"]));
        let members = json!({"part": reference("Part"), "other": {"type": "string"}});
        let around = json!({"type": "object", "properties": members, "required": required});
        definitions.insert("Around".to_owned(), around);
        let list = match parts.strip_prefix("map of ") {
            Some(parts) => json!({"type": "object", "additionalProperties": reference(parts)}),
            None => json!({"type": "array", "items": reference(parts)}),
        };
        definitions["CallResult"]["properties"][name] = list;
        definitions
    };
    let both = ["part", "other"];
    for (earlier, later, rule) in [
        (
            with_parts("parts", "Part", &["part"]),
            with_parts("parts", "Around", &["part"]),
            r#"{at: "CallResult.parts", renamed: "parts[].part", "#,
        ),
        (
            with_parts("parts", "Around", &["part"]),
            with_parts("content", "Part", &["part"]),
            r#"{at: "CallResult.parts[].part", renamed: "content", "#,
        ),
        (
            with_parts("parts", "map of Part", &both),
            with_parts("parts", "Around", &both),
            r#"{at: "CallResult.parts", renamed: "parts[{other}].part", "#,
        ),
        (
            with_parts("parts", "Around", &both),
            with_parts("content", "map of Part", &both),
            r#"{at: "CallResult.parts[{other}].part", renamed: "content", "#,
        ),
        (
            with_parts("parts", "map of Part", &["part"]),
            with_parts("parts", "map of Around", &["part"]),
            r#"{at: "CallResult.parts", renamed: "parts[].part", "#,
        ),
        // Nothing supplies the other member. The list has another type, and isn't a union without these variants.
        (
            with_parts("parts", "Part", &both),
            with_parts("parts", "Around", &both),
            r#"{at: "CallResult.parts", up: {drop: true}, down: {drop: true}, "#,
        ),
    ] {
        let revisions = Revisions::new();
        revisions.ingest("second", earlier);
        let warnings = revisions.ingest("third", later).warnings;
        let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
        assert!(warnings.len() == 1 && warnings[0].contains(rule), "{warnings:?}");
    }
}

#[test]
fn the_rule_for_a_list_with_a_role_is_reported_beside_the_lost_role() {
    let with_uris = |element: Value| {
        let mut definitions = definitions();
        definitions["CallResult"]["properties"]["uris"] = json!({"type": "array", "items": element});
        definitions
    };
    let revisions = Revisions::new();
    revisions.ingest("second", with_uris(json!({"type": "string"})));
    fs::write(revisions.schema().join("lifecycle.yaml"), "filter.uris: uris\n").unwrap();
    let around = json!({"type": "object", "properties": {"uri": {"type": "string"}}, "required": ["uri"]});
    let warnings = revisions.ingest("third", with_uris(around)).warnings;
    let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    let [lost, moved] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert!(lost.contains("another type of `uris` than a list of texts"), "{lost}");
    assert!(
        moved.contains(r#"{at: "CallResult.uris", renamed: "uris[].uri", "#),
        "{moved}"
    );
}

#[test]
fn results_without_a_value_of_the_tag_are_reported_and_not_results_of_their_method() {
    let mut definitions = definitions();
    let text = json!({"type": "string"});
    for (name, kind, member) in [
        ("CallResult", json!({"const": "whole"}), "value"),
        ("WaitResult", json!({"const": "wait"}), "until"),
        ("TaskResult", text.clone(), "task"),
        ("PartResult", text.clone(), "part"),
    ] {
        let members = json!({"kind": kind, member: text});
        let schema = json!({"type": "object", "properties": members, "required": ["kind", member]});
        definitions.insert(name.to_owned(), schema);
    }
    let results = union(&["WaitResult", "CallResult", "TaskResult", "PartResult"]);
    definitions["CallResultResponse"]["properties"]["result"] = results;
    let revisions = Revisions::new();
    let warnings = revisions.ingest("second", definitions.clone()).warnings;
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    for name in ["TaskResult", "PartResult"] {
        let what = format!(
            "second: the schema has no value of `kind` for {name}, a result of `call`: sessions only know `wait` and `whole`"
        );
        let line = format!(r##"{{at: "#/$defs/{name}/properties/kind/x-tag", to: "…", "##);
        let is_it = |warning: &String| warning.contains(&what) && warning.contains(&line);
        assert!(warnings.iter().any(is_it), "{warnings:?}");
    }
    let methods = revisions.methods("second");
    let call = r#""call" "client-to-server" ["CallResult","WaitResult"]"#;
    assert!(methods.iter().any(|method| method == call), "{methods:?}");

    // The usual result isn't left out.
    definitions["CallResult"]["properties"]["kind"] = text;
    revisions.ingest("third", definitions);
    let methods = revisions.methods("third");
    let call = r#""call" "client-to-server" ["CallResultResponseResult"]"#;
    assert!(methods.iter().any(|method| method == call), "{methods:?}");
}

#[test]
fn a_required_member_that_nothing_supplies_is_reported_with_the_rule_that_supplies_it() {
    let mut with_total = definitions();
    for ty in ["CallResult", "FindResult"] {
        with_total[ty]["properties"]["total"] = json!({"type": "integer"});
        with_total[ty]["required"] = json!(["kind", "total"]);
    }
    // The rule of the revision that requires the member, and the one that is suggested for the next, which lacks it.
    for (rule, next) in [("up: {default: 0}", "down: {default: …}"), ("implied: 0", "implied: 0")] {
        let revisions = Revisions::new();
        let warning = |revision: &str, definitions: Definitions| -> String {
            let warnings = revisions.ingest(revision, definitions).warnings;
            let [warning] = warnings.as_slice() else {
                panic!("{warnings:?}")
            };
            warning.to_string().split_once("adapt.yaml: ").unwrap().1.to_owned()
        };
        let line = |action: &str| format!(r#"- {{at: "*.total", {action}, why: "…", link: "https://…"}}"#);
        let suggestion = line("up: {default: …}");
        assert_eq!(
            warning("second", with_total.clone()),
            format!(
                "second requires `total` in CallResult, FindResult, and nothing supplies it: conversions from first \
                 refuse these\n  if this is true of every peer of first, add this line under `rules` in the revision's \
                 adapt.yaml: {suggestion}"
            )
        );
        let rules = format!("rules:\n  {}\n", line(rule));
        fs::write(revisions.schema().join("second/adapt.yaml"), rules).unwrap();
        let report = adapters_report(&revisions.schema()).unwrap();
        assert!(!report.contains("nothing supplies it"), "{report}");
        let warning = warning("third", definitions());
        assert!(warning.ends_with(&line(next)), "{warning}");
    }
}

#[test]
fn a_member_that_only_one_of_several_places_of_a_type_requires_is_reported() {
    let revisions = Revisions::new();
    let maker = |required: &[&str]| {
        let members = json!({"name": {"type": "string"}, "vendor": {"type": "string"}});
        json!({"type": "object", "properties": members, "required": required})
    };
    let mut with_maker = definitions();
    with_maker.insert("Maker".to_owned(), maker(&["name"]));
    for ty in ["CallResult", "FindResult"] {
        with_maker[ty]["properties"]["maker"] = json!({"$ref": "#/$defs/Maker"});
    }
    revisions.ingest("second", with_maker.clone());
    with_maker.remove("Maker");
    with_maker["CallResult"]["properties"]["maker"] = maker(&["name", "vendor"]);
    with_maker["FindResult"]["properties"]["maker"] = maker(&["name"]);
    let warnings = revisions.ingest("third", with_maker).warnings;
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    let expected = "third requires `vendor` in Maker, where second has it as optional, and nothing supplies it";
    assert!(
        warnings.iter().any(|warning| warning.contains(expected)),
        "{warnings:?}"
    );
}

#[test]
fn a_suggested_default_is_not_for_other_types_that_have_such_a_member() {
    let revisions = Revisions::new();
    let mut definitions = definitions();
    definitions["AskResult"]["properties"]["total"] = json!({"type": "integer"});
    revisions.ingest("second", definitions.clone());
    for ty in ["CallResult", "FindResult"] {
        definitions[ty]["properties"]["total"] = json!({"type": "integer"});
        definitions[ty]["required"] = json!(["kind", "total"]);
    }
    let warnings = revisions.ingest("third", definitions).warnings;
    let [warning] = warnings.as_slice() else {
        panic!("{warnings:?}")
    };
    let rule = r#"{at: ["CallResult.total","FindResult.total"], up: {default: …}, why: "…", link: "https://…"}"#;
    assert!(warning.to_string().ends_with(&format!("- {rule}")), "{warning}");
    let adapt = format!("rules:\n  - {}\n", rule.replace("default: …", "default: 0"));
    fs::write(revisions.schema().join("third/adapt.yaml"), adapt).unwrap();
    let report = adapters_report(&revisions.schema()).unwrap();
    assert!(!report.contains("nothing supplies it"), "{report}");
}

#[test]
fn a_required_member_that_moves_into_an_optional_object_is_reported_with_its_default() {
    let [mut before, mut after] = [definitions(), definitions()];
    let total = json!({"type": "integer"});
    before["CallResult"]["properties"]["total"] = total.clone();
    before["CallResult"]["required"] = json!(["kind", "total"]);
    after["CallResult"]["properties"]["sums"] = json!({"type": "object", "properties": {"total": total}});
    let revisions = Revisions::new();
    revisions.ingest("second", before);
    // The value is in another place in the next revision, so its absence isn't that in the first.
    let rule = r#"{at: "CallResult.total", implied: 0, why: so, link: "https://example.org"}"#;
    let rules = format!("rules:\n  - {rule}\n");
    fs::write(revisions.schema().join("second/adapt.yaml"), rules).unwrap();
    let warnings = revisions.ingest("third", after).warnings;
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    let [moved, missing] = warnings.as_slice() else {
        panic!("{warnings:?}")
    };
    assert!(
        moved.contains(r#"{at: "CallResult.total", renamed: "sums.total","#),
        "{moved}"
    );
    let rule = r#"{at: "CallResult.total", down: {default: 0}, why: "…", link: "https://…"}"#;
    assert!(missing.ends_with(&format!("- {rule}")), "{missing}");
}

#[test]
fn a_member_that_becomes_required_or_optional_is_reported_with_its_default() {
    let with_total = |required: &[&str]| {
        let mut definitions = definitions();
        for ty in ["CallResult", "FindResult"] {
            definitions[ty]["properties"]["total"] = json!({"type": "integer"});
            if required.contains(&ty) {
                definitions[ty]["required"] = json!(["kind", "total"]);
            }
        }
        definitions
    };
    let revisions = Revisions::new();
    revisions.ingest("second", with_total(&["CallResult", "FindResult"]));
    let implied = r#"- {at: "*.total", implied: 0, why: so, link: "https://example.org"}"#;
    fs::write(
        revisions.schema().join("second/adapt.yaml"),
        format!("rules:\n  {implied}\n"),
    )
    .unwrap();
    for (revision, required, what, rule) in [
        (
            "third",
            &["FindResult"][..],
            "second requires `total` in CallResult, where third has it as optional, and nothing supplies it: \
             conversions from third refuse values without it",
            r#"{at: "CallResult.total", down: {default: 0}, why: "…", link: "https://…"}"#,
        ),
        (
            "fourth",
            &["CallResult", "FindResult"],
            "fourth requires `total` in CallResult, where third has it as optional, and nothing supplies it: \
             conversions from third refuse values without it",
            r#"{at: "CallResult.total", up: {default: …}, why: "…", link: "https://…"}"#,
        ),
    ] {
        let warnings = revisions.ingest(revision, with_total(required)).warnings;
        let [warning] = warnings.as_slice() else {
            panic!("{warnings:?}")
        };
        let warning = warning.to_string();
        assert!(warning.contains(what), "{warning}");
        assert!(warning.ends_with(&format!("- {rule}")), "{warning}");
        let rules = format!("rules:\n  - {}\n", rule.replace("default: …", "default: 0"));
        fs::write(revisions.schema().join(revision).join("adapt.yaml"), rules).unwrap();
        let report = adapters_report(&revisions.schema()).unwrap();
        assert!(!report.contains("nothing supplies it"), "{report}");
    }
}

#[test]
fn a_value_of_an_enumeration_with_another_name_is_reported_with_the_rule_that_keeps_it() {
    let mut definitions = definitions();
    definitions["CallResult"]["properties"]["level"] = reference("LoggingLevel");
    let revisions = Revisions::new();
    revisions.ingest("second", definitions.clone());
    definitions["LoggingLevel"]["enum"] = json!(["low", "highest"]);
    let warnings = revisions.ingest("third", definitions).warnings;
    let [warning] = warnings.as_slice() else {
        panic!("{warnings:?}")
    };
    let rule = r#"{at: "LoggingLevel[high]", renamed: "highest", why: "…", link: "https://…"}"#;
    assert!(warning.to_string().ends_with(&format!("- {rule}")), "{warning}");
    let adapt = format!("rules:\n  - {rule}\n");
    fs::write(revisions.schema().join("third/adapt.yaml"), adapt).unwrap();
    let report = adapters_report(&revisions.schema()).unwrap();
    assert!(report.contains("| `LoggingLevel[high]` | renamed: … |"), "{report}");
}

#[test]
fn variants_that_a_union_has_lost_are_reported_with_the_rule_that_replaces_them() {
    let block = |kind: &str, member: &str| {
        json!({
            "type": "object",
            "properties": {"type": {"const": kind}, member: {"type": "string"}},
            "required": ["type", member],
        })
    };
    let mut definitions = definitions();
    definitions.insert("Text".to_owned(), block("text", "text"));
    definitions.insert("Picture".to_owned(), block("picture", "data"));
    definitions.insert("Sound".to_owned(), block("sound", "samples"));
    definitions.insert("Block".to_owned(), union(&["Text", "Picture", "Sound"]));
    definitions.insert("Shown".to_owned(), union(&["Text", "Picture"]));
    definitions["CallResult"]["properties"]["block"] = reference("Block");
    definitions["CallResult"]["properties"]["shown"] = reference("Shown");
    let revisions = Revisions::new();
    revisions.ingest("second", definitions.clone());
    definitions.remove("Picture");
    definitions.insert("Video".to_owned(), block("video", "frames"));
    definitions.insert("Block".to_owned(), union(&["Text", "Video", "Sound"]));
    definitions.insert("Shown".to_owned(), union(&["Text", "Video"]));
    let third = revisions.ingest("third", definitions);
    let [warning] = third.warnings.as_slice() else {
        panic!("{third:?}")
    };
    let what = "third has no variant `picture` of Block, Shown: conversions from second refuse its values";
    assert_eq!(warning.what, what);
    let warning = warning.to_string();
    let (_, rule) = warning.split_once("adapt.yaml: - ").unwrap();
    let rule = rule.replace("replace: …", "replace: {type: text, text: \"{data}\"}");
    let adapt = revisions.schema().join("third/adapt.yaml");
    fs::write(adapt, format!("rules:\n  - {rule}\n")).unwrap();
    let report = adapters_report(&revisions.schema()).unwrap();
    for place in ["Block[picture]", "Shown[picture]"] {
        assert!(report.contains(&format!("| `{place}` | replace: … |")), "{report}");
    }
}

#[test]
fn values_that_an_enumeration_has_lost_are_reported_with_the_rule_that_replaces_them() {
    let mut definitions = definitions();
    definitions["CallResult"]["properties"]["level"] = reference("LoggingLevel");
    definitions["LoggingLevel"]["enum"] = json!(["low", "high", "higher", "highest"]);
    let revisions = Revisions::new();
    revisions.ingest("second", definitions.clone());
    definitions["LoggingLevel"]["enum"] = json!(["low", "high"]);
    let third = revisions.ingest("third", definitions);
    let [warning] = third.warnings.as_slice() else {
        panic!("{third:?}")
    };
    let (what, rule) = (&warning.what, warning.to_string());
    assert!(
        what.contains("`higher`, `highest` in LoggingLevel: conversions from second refuse"),
        "{what}"
    );
    let (_, rule) = rule.split_once("adapt.yaml: - ").unwrap();
    let adapt = revisions.schema().join("third/adapt.yaml");
    let report = |replacement: &str| {
        let rule = rule.replace("replace: …", &format!("replace: {replacement}"));
        fs::write(&adapt, format!("rules:\n  - {rule}\n")).unwrap();
        adapters_report(&revisions.schema()).map_err(|error| error.to_string())
    };
    let wrong = report("highest").unwrap_err();
    assert!(wrong.contains(r#""highest" isn't a value of LoggingLevel"#), "{wrong}");
    let report = report("high").unwrap();
    assert!(report.contains("| `LoggingLevel[highest]` | replace: … |"), "{report}");
}

#[test]
fn a_renamed_method_is_reported_with_the_rule_that_keeps_it() {
    let revisions = Revisions::new();
    let mut other = renamed(&definitions(), |name| name.replace("Call", "Invoke"));
    other["InvokeRequest"]["properties"]["method"] = json!({"const": "invoke"});
    let warnings = revisions.ingest("second", other).warnings;
    let [warning] = warnings.as_slice() else {
        panic!("{warnings:?}")
    };
    let warning = warning.to_string();
    assert!(
        warning.contains("second has `invoke` instead of `call`: conversions refuse the method"),
        "{warning}"
    );
    let rule = r#"{at: "CallRequest", renamed: "InvokeRequest", why: "…", link: "https://…"}"#;
    assert!(warning.ends_with(&format!("- {rule}")), "{warning}");
    let adapt = format!("rules:\n  - {rule}\n");
    fs::write(revisions.schema().join("second/adapt.yaml"), adapt).unwrap();
    let report = adapters_report(&revisions.schema()).unwrap();
    assert!(report.contains("| `CallRequest` | renamed: … |"), "{report}");
    assert!(!report.contains("the target has none of that name"), "{report}");
}

#[test]
fn of_several_methods_that_could_be_renamed_the_one_whose_name_ends_the_same_is_reported() {
    let revisions = Revisions::new();
    let mut other = renamed(&definitions(), |name| {
        name.replace("Call", "Invoke").replace("Find", "Search")
    });
    other["InvokeRequest"]["properties"]["method"] = json!({"const": "basic.call"});
    other["SearchRequest"]["properties"]["method"] = json!({"const": "basic.find"});
    for name in ["InvokeResult", "SearchResult"] {
        other[name]["properties"] = json!({"kind": {"type": "string"}});
    }
    let mut same = definitions();
    for name in ["CallResult", "FindResult"] {
        same[name]["properties"] = json!({"kind": {"type": "string"}});
    }
    revisions.ingest("second", same);
    let warnings = revisions.ingest("third", other).warnings;
    let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    for (old, new) in [("CallRequest", "InvokeRequest"), ("FindRequest", "SearchRequest")] {
        let rule = format!(r#"- {{at: "{old}", renamed: "{new}", why: "…", link: "https://…"}}"#);
        assert!(warnings.iter().any(|warning| warning.ends_with(&rule)), "{warnings:?}");
    }
}

#[test]
fn an_open_object_that_declares_an_optional_member_later_stays_where_it_is() {
    let with = |payload: Value| {
        let mut definitions = definitions();
        definitions["CallResult"]["properties"]["payload"] = payload;
        definitions
    };
    let open = json!({"type": "object", "additionalProperties": {}});
    let warnings = |required: &[&str]| {
        let revisions = Revisions::new();
        revisions.ingest("second", with(open.clone()));
        let later = json!({"type": "object", "properties": {"extra": open}, "required": required});
        let warnings = revisions.ingest("third", with(later)).warnings;
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(warnings(&[]), [""; 0]);
    let moved = warnings(&["extra"]);
    let rule = r#"{at: "CallResult.payload", renamed: "payload.extra", "#;
    assert!(moved.iter().any(|warning| warning.contains(rule)), "{moved:?}");
}
