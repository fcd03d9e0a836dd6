//! Tests of `mcp-rev translate`.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// The outcome of a run.
#[derive(Debug)]
struct Run {
    status: Option<i32>,
    output: String,
    error: String,
}

impl Run {
    /// Each line of output as JSON.
    fn answers(&self) -> Vec<Value> {
        self.output
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn translate(arguments: &[&str], input: &str) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-rev"));
    command.arg("translate").args(arguments);
    let pipes = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    // A program that refuses its arguments doesn't read its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Run {
        status: output.status.code(),
        output: String::from_utf8(output.stdout).unwrap(),
        error: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Translates instances of one definition.
fn lines(from: &str, to: &str, definition: &str, more: &[&str], input: &str) -> Run {
    let arguments = [&["--from", from, "--to", to, "--type", definition], more].concat();
    translate(&arguments, input)
}

#[test]
fn a_translated_value_is_printed_with_its_losses() {
    let input = r#"{"uri":"file:///a","name":"a","title":"A"}"#;
    let run = lines("2025-06-18", "2025-03-26", "Resource", &[], input);
    assert_eq!(run.status, Some(0), "{run:?}");
    let value = r#"{"name":"a","uri":"file:///a"}"#;
    let losses = r#"[{"path":"title","kind":"dropped","rule":"automatic"}]"#;
    assert_eq!(
        run.output,
        format!("{{\"ok\":true,\"value\":{value},\"losses\":{losses}}}\n")
    );
    assert_eq!(run.error, "");
}

#[test]
fn strict_reports_losses_on_standard_error_with_exit_status_1() {
    let input = r#"{"uri":"file:///a","name":"a","title":"A"}"#;
    let translate = |input: &str, more: &[&str]| lines("2025-06-18", "2025-03-26", "Resource", more, input);
    let run = translate(input, &["--strict"]);
    assert_eq!(
        (run.status, run.error.as_str()),
        (Some(1), "[lost] Resource: title dropped (automatic)\n")
    );
    assert_eq!(run.output, translate(input, &[]).output);
    for (input, more) in [
        (input, &["--strict", "--carry"][..]),
        (r#"{"uri":"file:///a","name":"a"}"#, &["--strict"]),
    ] {
        let run = translate(input, more);
        assert_eq!((run.status, run.error.as_str()), (Some(0), ""), "{run:?}");
    }
}

#[test]
fn a_lossless_translation_has_an_empty_list_of_losses() {
    let input = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let run = lines("2024-11-05", "2025-11-25", "PingRequest", &[], input);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert_eq!(run.answers()[0]["losses"], json!([]));
}

#[test]
fn a_loss_by_a_rule_names_the_rule_and_its_revision() {
    let input = r#"{"content":[{"type":"resource_link","name":"n","uri":"file:///n"}]}"#;
    let run = lines("2025-11-25", "2024-11-05", "CallToolResult", &[], input);
    let expected = json!({
        "ok": true,
        "value": {"content": [{"type": "text", "text": "n: file:///n"}]},
        "losses": [{"path": "content[0]", "kind": "replaced", "rule": "2025-06-18 ContentBlock[resource_link]"}],
    });
    assert_eq!((run.status, run.answers()), (Some(0), vec![expected]));
}

#[test]
fn an_untranslatable_value_is_printed_with_code_path_and_error() {
    let input = r#"{"role":"user","content":{"type":"tool_use","id":"u","name":"n","input":{}}}"#;
    let run = lines("2025-11-25", "2025-06-18", "SamplingMessage", &[], input);
    assert_eq!(run.status, Some(1), "{run:?}");
    let error = "the peer's revision has no tools in sampling";
    assert_eq!(
        run.output,
        format!(
            "{{\"ok\":false,\"line\":1,\"column\":1,\"byte\":0,\"code\":-32602,\"path\":\"content\",\"error\":\"{error}\"}}\n"
        )
    );
    assert_eq!(run.error, "");
}

#[test]
fn a_method_missing_in_the_target_has_the_code_method_not_found() {
    let input = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/list"}"#;
    let run = lines("2025-11-25", "2025-06-18", "ClientRequest", &[], input);
    let answer = &run.answers()[0];
    assert_eq!(
        (run.status, &answer["ok"], &answer["code"]),
        (Some(1), &json!(false), &json!(-32601))
    );
    assert_eq!(answer["path"], "method");
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 7, "{answer}");
}

#[test]
fn the_error_for_a_type_without_a_counterpart_names_the_revision() {
    let input = r#"{"src":"https://example.org/i.png"}"#;
    let run = lines("2025-11-25", "2024-11-05", "Icon", &[], input);
    let answer = &run.answers()[0];
    assert_eq!(
        (run.status, &answer["ok"], &answer["path"]),
        (Some(1), &json!(false), &json!("(root)"))
    );
    assert_eq!(answer["error"], "revision 2025-06-18 has no counterpart of Icon");
}

#[test]
fn an_invalid_line_is_reported_with_its_path_and_the_others_go_on() {
    let input = "{\"tools\":[{\"name\":1}]}\n\nno JSON\n{\"tools\":[]}\n{\"tools\":[]}";
    let run = lines("2025-11-25", "2025-06-18", "ListToolsResult", &[], input);
    assert_eq!(run.status, Some(1));
    let answers = run.answers();
    let good: Vec<bool> = answers.iter().map(|answer| answer["ok"] == true).collect();
    assert_eq!(good, [false, false, true, true], "an empty line has no output");
    assert_eq!(
        answers[0],
        json!({"ok": false, "line": 1, "column": 1, "byte": 0, "code": -32602, "path": "tools[0].name", "error": "expected a string, found a number"})
    );
    assert_eq!(answers[1]["code"], -32700, "{}", answers[1]);
}

#[test]
fn translating_empty_input_succeeds() {
    let run = lines("2025-11-25", "2025-06-18", "Tool", &[], "");
    assert_eq!((run.status, &*run.output), (Some(0), ""));
}

#[test]
fn a_translation_to_the_same_revision_changes_nothing() {
    let value = json!({"name": "t", "title": "T", "inputSchema": {"type": "object"}, "vendor": [1, 2.50]});
    for revision in ["2025-06-18", "2025-11-25"] {
        let run = lines(revision, revision, "Tool", &[], &value.to_string());
        assert_eq!(run.answers(), [json!({"ok": true, "value": value, "losses": []})]);
    }
}

#[test]
fn translated_typed_lines_name_their_new_type() {
    let input = concat!(
        r#"{"type":"ResourceTemplateReference","value":{"type":"ref/resource","uri":"file:///{p}"}}"#,
        "\n",
        r#"{"type":"Nothing","value":{}}"#,
        "\n",
        r#"{"value":{}}"#,
        "\n",
        r#"{"type":"Role","value":"user"}"#,
        "\n",
    );
    let run = typed(input);
    assert_eq!(run.status, Some(1));
    let answers = run.answers();
    assert_eq!(
        answers[0],
        json!({
            "ok": true,
            "type": "ResourceReference",
            "value": {"type": "ref/resource", "uri": "file:///{p}"},
            "losses": [],
        })
    );
    assert_eq!(answers[1]["ok"], false);
    let error = answers[1]["error"].as_str().unwrap();
    assert!(error.contains("2025-06-18") && error.contains("\"Nothing\""), "{error}");
    assert_eq!(answers[2]["ok"], false);
    assert!(
        answers[2]["error"].as_str().unwrap().contains("\"type\""),
        "{}",
        answers[2]
    );
    assert_eq!(
        (&answers[3]["ok"], &answers[3]["value"]),
        (&json!(true), &json!("user"))
    );
}

#[test]
fn every_refused_value_has_the_same_members() {
    has_all_members(&typed(
        "{\"type\":\"Nothing\",\"value\":{}}\n{\"type\":\"Tool\",\"value\":{}}\n",
    ));
}

#[test]
fn every_refused_typed_line_has_the_same_members() {
    let run = typed("no line\n{\"value\":{}}\n");
    has_all_members(&run);
    let codes: Vec<Value> = run.answers().into_iter().map(|answer| answer["code"].clone()).collect();
    assert_eq!(codes, [-32700, -32600], "not JSON, and not a typed value");
}

fn typed(input: &str) -> Run {
    translate(&["--from", "2025-06-18", "--to", "2025-03-26", "--typed"], input)
}

#[track_caller]
fn has_all_members(run: &Run) {
    let answers = run.answers();
    assert_eq!(answers.len(), 2);
    for answer in answers {
        let members: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            members,
            ["byte", "code", "column", "error", "line", "ok", "path"],
            "{answer}"
        );
    }
}

#[test]
fn translating_an_unknown_revision_lists_the_known_ones() {
    for (from, to) in [
        ("2025-11-24", "2025-06-18"),
        ("2025-06-18", "latest"),
        ("", "2025-06-18"),
    ] {
        let run = lines(from, to, "Tool", &[], "{}");
        assert_eq!((run.status, &*run.output), (Some(2), ""));
        assert!(
            run.error.contains("2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25"),
            "{}",
            run.error
        );
    }
}

#[test]
fn translating_an_unknown_type_suggests_one_or_lists_all() {
    for (name, tip) in [
        ("ListTolsResult", "did you mean \"ListToolsResult\"?"),
        ("Qx", "there are Annotated, "),
    ] {
        let run = lines("2024-11-05", "2025-11-25", name, &[], "{}");
        assert_eq!((run.status, &*run.output), (Some(2), ""));
        let error = format!("error: revision 2024-11-05 has no definition \"{name}\"\n\n  tip: {tip}");
        assert!(run.error.starts_with(&error), "{}", run.error);
    }
}

#[test]
fn translating_a_union_of_results_names_the_reason() {
    let run = lines("2025-11-25", "2025-06-18", "ServerResult", &[], "{}");
    assert_eq!((run.status, &*run.output), (Some(2), ""));
    assert!(
        run.error.contains("ServerResult is a union of results"),
        "{}",
        run.error
    );
}

#[test]
fn the_error_for_a_typed_line_has_one_position_in_the_input() {
    let input = "\n{\"type\":\"Tol\",\"value\":{}}\n{\"value\":{}}";
    let run = translate(&["--from", "2025-11-25", "--to", "2024-11-05", "--typed"], input);
    let unknown = "revision 2025-11-25 has no definition \"Tol\"; did you mean \"Tool\"?";
    let untyped = "not a value {\"type\":…,\"value\":…}: missing field `type`";
    let expected = [
        json!({"ok": false, "line": 2, "column": 1, "byte": 1, "code": -32601, "path": "type", "error": unknown}),
        json!({"ok": false, "line": 3, "column": 1, "byte": 27, "code": -32600, "path": "(root)", "error": untyped}),
    ];
    assert_eq!((run.status, run.answers()), (Some(1), expected.to_vec()));
}

#[test]
fn either_type_or_typed_is_required() {
    let revisions = ["--from", "2024-11-05", "--to", "2025-11-25"];
    for more in [&[][..], &["--type", "Tool", "--typed"]] {
        let run = translate(&[&revisions[..], more].concat(), "{}");
        assert_eq!((run.status, &*run.output), (Some(2), ""));
        assert!(
            run.error.contains("--type") && run.error.contains("Usage"),
            "{}",
            run.error
        );
    }
}

/// A list of tools with members that 2024-11-05 doesn't have.
fn tools() -> Value {
    json!({
        "tools": [
            {
                "name": "forecast",
                "title": "The forecast",
                "description": "What the weather will be",
                "icons": [{"src": "https://example.org/sun.svg", "mimeType": "image/svg+xml", "sizes": ["any"]}],
                "annotations": {"readOnlyHint": true},
                "execution": {"taskSupport": "optional"},
                "inputSchema": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                    "required": ["city"],
                    "additionalProperties": false,
                },
                "outputSchema": {"type": "object", "properties": {"degrees": {"type": "number"}}},
                "_meta": {"shelf": 3},
            },
            {
                "name": "train",
                "title": "Train a model",
                "execution": {"taskSupport": "required"},
                "inputSchema": {"type": "object"},
            },
        ],
        "nextCursor": "more",
    })
}

#[test]
fn translated_tools_conform_to_an_old_revision_with_a_list_of_losses() {
    let run = lines("2025-11-25", "2024-11-05", "ListToolsResult", &[], &tools().to_string());
    let answer = &run.answers()[0];
    assert_eq!(run.status, Some(0), "{run:?}");
    let expected = json!({
        "tools": [{
            "name": "forecast",
            "description": "What the weather will be",
            "inputSchema": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
                "additionalProperties": false,
            },
        }],
        "nextCursor": "more",
    });
    assert_eq!(answer["value"], expected);
    let mut lost: Vec<String> = answer["losses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|loss| format!("{} {} {}", loss["path"], loss["kind"], loss["rule"]).replace('"', ""))
        .collect();
    lost.sort_unstable();
    let expected = [
        "tools[0]._meta dropped automatic",
        "tools[0].annotations dropped automatic",
        "tools[0].execution dropped automatic",
        "tools[0].icons dropped automatic",
        "tools[0].outputSchema dropped automatic",
        "tools[0].title dropped 2025-06-18 Tool.title",
        "tools[1] dropped 2025-11-25 ListToolsResult.tools",
    ];
    assert_eq!(lost, expected);
}

#[test]
fn tools_carried_to_2024_11_05_survive_the_round_trip() {
    let there = lines(
        "2025-11-25",
        "2024-11-05",
        "ListToolsResult",
        &["--carry"],
        &tools().to_string(),
    );
    let carried = &there.answers()[0];
    assert_eq!((there.status, &carried["losses"]), (Some(0), &json!([])));
    let back = lines(
        "2024-11-05",
        "2025-11-25",
        "ListToolsResult",
        &["--carry"],
        &carried["value"].to_string(),
    );
    assert_eq!(back.answers(), [json!({"ok": true, "value": tools(), "losses": []})]);
    assert_eq!(back.status, Some(0));
}

/// The output of `mcp-rev decode --strict` for a value.
fn decoded(revision: &str, definition: &str, value: &Value) -> Value {
    let arguments = ["decode", "--strict", "--revision", revision, "--type", definition];
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-rev"));
    let pipes = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(value.to_string().as_bytes())
        .unwrap();
    serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn the_output_of_translate_is_valid_input_for_decode() {
    let calls = [
        (
            "ListToolsRequest",
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        ),
        ("ClientRequest", json!({"jsonrpc": "2.0", "id": "a", "method": "ping"})),
        (
            "ServerRequest",
            json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}),
        ),
        (
            "InitializedNotification",
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        ),
        (
            "JSONRPCMessage",
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        ),
        ("Root", json!({"uri": "file:///a"})),
    ];
    for (from, to) in [
        ("2024-11-05", "2025-11-25"),
        ("2025-11-25", "2024-11-05"),
        ("2025-11-25", "2025-11-25"),
    ] {
        for (definition, call) in &calls {
            let run = lines(from, to, definition, &[], &call.to_string());
            let value = &run.answers()[0]["value"];
            assert_eq!(value, call, "{from} {to} {definition}: {run:?}");
            assert_eq!(decoded(to, definition, value), json!({"ok": true, "value": value}));
        }
    }
}

#[test]
fn a_missing_envelope_is_added_to_a_notification_but_not_to_a_request() {
    let run = lines("2024-11-05", "2025-11-25", "PingRequest", &[], r#"{"method":"ping"}"#);
    let error = "the target revision requires `id`, and nothing supplies it";
    let expected =
        json!({"ok": false, "line": 1, "column": 1, "byte": 0, "code": -32602, "path": "id", "error": error});
    assert_eq!(run.answers(), [expected]);

    let input = r#"{"method":"notifications/initialized"}"#;
    let run = lines("2024-11-05", "2025-11-25", "InitializedNotification", &[], input);
    let value = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(run.answers(), [json!({"ok": true, "value": value, "losses": []})]);

    // This is the same error as that of `decode`.
    let run = lines("2025-11-25", "2024-11-05", "PingRequest", &[], r#"{"method":"ping"}"#);
    assert_eq!(run.answers()[0]["path"], "jsonrpc");
}

#[test]
fn a_whole_message_is_translated_by_its_method() {
    let message = |json: &str, from: &str, to: &str| lines(from, to, "JSONRPCMessage", &[], json).answers().remove(0);

    let tasks = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/list"}"#;
    let answer = message(tasks, "2025-11-25", "2024-11-05");
    assert_eq!(
        (&answer["ok"], &answer["code"]),
        (&json!(false), &json!(-32601)),
        "{answer}"
    );

    // A request of a server, and a notification.
    let sampling = r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[]}}"#;
    let answer = message(sampling, "2025-11-25", "2025-06-18");
    assert_eq!(
        (&answer["code"], &answer["path"]),
        (&json!(-32602), &json!("params.tools")),
        "{answer}"
    );
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":"a"}}"#;
    let answer = message(progress, "2025-03-26", "2024-11-05");
    assert_eq!(answer["value"]["params"], json!({"progressToken": 1, "progress": 1}));
    assert_eq!(answer["losses"][0]["path"], "params.message");

    // A response doesn't name its method, and the definitions have nothing about methods that the revision doesn't
    // declare.
    for open in [
        json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"icons": []}]}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "vendor/own", "params": {"a": 1}}),
    ] {
        let answer = message(&open.to_string(), "2025-11-25", "2024-11-05");
        assert_eq!(answer, json!({"ok": true, "value": open, "losses": []}));
    }
}

#[test]
fn each_message_of_a_batch_is_translated_by_its_method() {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let progress = json!({"progressToken": 1, "progress": 1, "message": "a"});
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress});
    let batch = json!([call, notification]).to_string();
    let run = lines("2025-03-26", "2025-03-26", "JSONRPCMessage", &[], &batch);
    assert_eq!(run.answers()[0]["value"].to_string(), batch);

    let bad = json!([call, {"jsonrpc": "2.0", "method": "notifications/progress"}]).to_string();
    let run = lines("2025-03-26", "2025-03-26", "JSONRPCMessage", &[], &bad);
    assert_eq!(run.answers()[0]["path"], "[1].params", "{run:?}");
}

/// An error response.
fn failure(code: i64, data: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no", "data": data}})
}

#[test]
fn the_error_code_is_translated_for_the_given_method() {
    let data = json!({"uri": "file:///a"});
    for (from, to, before, after) in [
        ("2024-11-05", "2026-07-28", -32002, -32602),
        ("2026-07-28", "2024-11-05", -32602, -32002),
    ] {
        for (method, expected) in [
            (Some("resources/read"), after),
            (Some("prompts/get"), before),
            (None, before),
        ] {
            let more = method.map_or(vec![], |method| vec!["--method", method]);
            let run = lines(from, to, "JSONRPCMessage", &more, &failure(before, &data).to_string());
            assert_eq!(run.status, Some(0), "{run:?}");
            assert_eq!(run.answers()[0]["value"], failure(expected, &data), "{from} {method:?}");
            assert_eq!(run.answers()[0]["losses"], json!([]));
        }
    }
}

#[test]
fn an_error_code_missing_in_the_target_is_a_loss_unless_carried() {
    let data = json!({"requiredCapabilities": {"sampling": {}}});
    let input = json!([failure(-32021, &data), failure(-32602, &data)]).to_string();
    let run = lines(
        "2026-07-28",
        "2025-03-26",
        "JSONRPCMessage",
        &[],
        &failure(-32021, &data).to_string(),
    );
    assert_eq!(run.answers()[0]["value"], failure(-32602, &data));
    let losses = json!([{"path": "error.code", "kind": "replaced", "rule": "2026-07-28 error -32021"}]);
    assert_eq!(run.answers()[0]["losses"], losses);
    let carried = lines(
        "2026-07-28",
        "2025-03-26",
        "JSONRPCMessage",
        &["--carry"],
        &failure(-32021, &data).to_string(),
    );
    assert_eq!(carried.answers()[0]["value"], failure(-32021, &data));
    // The later revision has no batches, so a batch of it can't be translated.
    let refused = lines("2026-07-28", "2025-03-26", "JSONRPCMessage", &[], &input);
    assert_eq!(refused.status, Some(1), "{refused:?}");
}

/// A call as clients of a revision with sessions send it.
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}"#;
/// The prefix of the metadata in each request of the stateless revision.
const META: &str = "io.modelcontextprotocol";

#[test]
fn the_error_for_a_missing_session_value_suggests_the_supply_option() {
    for definition in ["ClientRequest", "JSONRPCMessage"] {
        let run = lines("2025-11-25", "2026-07-28", definition, &[], CALL);
        let answer = &run.answers()[0];
        assert_eq!((run.status, &answer["ok"]), (Some(1), &json!(false)), "{run:?}");
        let error = answer["error"].as_str().unwrap();
        assert!(
            error.ends_with("; --supply meta.capabilities=VALUE gives it"),
            "{error}"
        );
    }
}

#[test]
fn supplied_values_and_the_target_version_are_added_to_the_request() {
    let capabilities = ["--supply", "meta.capabilities={\"roots\":{}}"];
    let level = ["--supply", "meta.log-level=info"];
    let version = ["--supply", "meta.version=2027-01-01"];
    for definition in ["CallToolRequest", "ClientRequest", "JSONRPCMessage"] {
        let more = [capabilities, level].concat();
        let run = lines("2024-11-05", "2026-07-28", definition, &more, CALL);
        let meta = json!({
            format!("{META}/protocolVersion"): "2026-07-28",
            format!("{META}/clientCapabilities"): {"roots": {}},
            format!("{META}/logLevel"): "info",
        });
        let params = json!({"name": "add", "_meta": meta});
        let value = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        assert_eq!(run.answers(), [json!({"ok": true, "value": value, "losses": []})]);
    }
    let run = lines(
        "2025-11-25",
        "2026-07-28",
        "ClientRequest",
        &[capabilities, version].concat(),
        CALL,
    );
    let meta = &run.answers()[0]["value"]["params"]["_meta"];
    assert_eq!(meta[format!("{META}/protocolVersion")], "2027-01-01", "{run:?}");
}

#[test]
fn session_values_are_lost_or_printed_separately_with_supply() {
    let meta = json!({format!("{META}/protocolVersion"): "2026-07-28", format!("{META}/clientCapabilities"): {}});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let down = |more: &[&str]| {
        let run = lines("2026-07-28", "2025-11-25", "ClientRequest", more, &request.to_string());
        run.answers().remove(0)
    };
    let lossy = down(&[]);
    assert_eq!(
        (lossy["losses"].as_array().map(Vec::len), lossy.get("supply")),
        (Some(2), None),
        "{lossy}"
    );
    let supply = json!({"meta.version": "2026-07-28", "meta.capabilities": {}});
    for key in ["elicitation=1", "meta.version=2026-07-28"] {
        let supplied = down(&["--supply", key]);
        assert_eq!(
            (&supplied["losses"], &supplied["supply"]),
            (&json!([]), &supply),
            "{supplied}"
        );
    }
}

#[test]
fn a_duplicate_member_that_a_rule_copies_is_reported_at_its_place() {
    let result = r#"{"content":[],"structuredContent":{"a":[{"x":1,"x":2}]}}"#;
    let [answer] = &lines("2025-06-18", "2025-03-26", "CallToolResult", &[], result).answers()[..] else {
        panic!("there is one answer")
    };
    assert_eq!(
        (&answer["path"], &answer["error"]),
        (
            &json!("structuredContent.a[0].x"),
            &json!("expected the member once, found it again")
        )
    );
}

#[test]
fn the_error_for_a_wrong_supply_key_lists_the_known_ones() {
    for (from, to, supply, expected) in [
        (
            "2025-11-25",
            "2026-07-28",
            "meta.capabilites={}",
            "there are elicitation, meta.capabilities, meta.client, meta.log-level, meta.version",
        ),
        (
            "2026-07-28",
            "2025-11-25",
            "meta={}",
            "there are elicitation, meta.capabilities, meta.client, meta.log-level, meta.version",
        ),
        (
            "2024-11-05",
            "2025-03-26",
            "meta.client={}",
            "takes no --supply key \"meta.client\"",
        ),
        ("2025-11-25", "2026-07-28", "meta.client={", "isn't JSON"),
        ("2025-11-25", "2026-07-28", "meta.client", "there is no `=`"),
    ] {
        let run = lines(from, to, "ClientRequest", &["--supply", supply], CALL);
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.error.contains(expected), "{run:?}");
    }
}
