//! `mcp-rev check` with servers that conform to the specification and with servers that don't.

#[cfg(unix)]
use crate::servers::{HELLO, script};
use crate::servers::{HttpServer, REVISIONS, everything, mcp_rev, run, stderr, stdout, succeeds, weather};
use serde_json::{Value, json};

/// The exit status and the report of a check.
#[cfg(unix)]
fn check(server: &[String], format: &str) -> (Option<i32>, String) {
    let args = [
        "check",
        "--timeout",
        "20",
        "--revision",
        "2025-06-18",
        "--format",
        format,
    ];
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let output = run(&[&args[..], &server].concat());
    (output.status.code(), stdout(&output))
}

#[cfg(unix)]
fn findings(server: &[String]) -> (Option<i32>, Vec<(String, Value)>) {
    let (status, report) = check(server, "json");
    let report: Value = serde_json::from_str(&report).unwrap();
    let mut all = Vec::new();
    for case in report["cases"].as_array().unwrap() {
        let findings = case["findings"].as_array().unwrap();
        assert_eq!(case["passed"], findings.is_empty());
        all.extend(
            findings
                .iter()
                .map(|finding| (case["name"].as_str().unwrap().to_owned(), finding.clone())),
        );
    }
    (status, all)
}

#[test]
fn our_own_servers_conform_in_every_revision_and_over_both_transports() {
    let http = HttpServer::start();
    for revision in REVISIONS {
        for server in [&["--", everything()][..], &[http.url.as_str()], &["--", weather()]] {
            let args = [&["check", "--revision", revision][..], server].concat();
            let report = succeeds(&args);
            assert!(report.contains("tools/list") && !report.contains("FAIL"), "{report}");
        }
    }
    let report = succeeds(&["check", "--tools", "all", "--format", "json", "--", weather()]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["server"]["name"], "weather");
    assert!(report["messages"].as_u64().unwrap() >= 3);
    let warning = "it was called once, and ended in an error: no measurement for example";
    let called = json!({"name": "tools/call weather", "passed": true, "warnings": [warning], "findings": []});
    assert!(report["cases"].as_array().unwrap().contains(&called), "{report}");
}

#[cfg(unix)]
#[test]
fn a_tool_whose_schemas_are_not_valid_gets_warnings() {
    let tools = r##"{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"strng"}}},"outputSchema":{"type":"object","$ref":"#/y"}},{"name":"b","inputSchema":{"type":"object","properties":{"x":{"pattern":"(?=a)"}}}}]}"##;
    let (status, report) = check(&script("", &[HELLO, ("tools/list", tools)]), "json");
    assert_eq!(status, Some(0));
    let report: Value = serde_json::from_str(&report).unwrap();
    let mut cases = report["cases"].as_array().unwrap().iter();
    let warnings = &cases.find(|case| case["name"] == "tools/list").unwrap()["warnings"];
    let warnings: Vec<&str> = warnings
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap())
        .collect();
    assert!(warnings[0].starts_with("the inputSchema of a can't be followed: #/properties/x/type: expected one of"));
    assert_eq!(
        warnings[1..],
        ["the outputSchema of a can't be followed: #/$ref: nothing is at `#/y`"]
    );
}

#[cfg(unix)]
#[test]
fn a_violation_is_reported_with_its_path_schema_keyword_and_link() {
    let server = script(
        "",
        &[
            HELLO,
            (
                "tools/list",
                r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"array"}}]}"#,
            ),
        ],
    );
    let (status, found) = findings(&server);
    assert_eq!(status, Some(1), "{found:?}");
    let expected = json!({
        "path": "result.tools[1].inputSchema.type",
        "message": "expected \"object\", found \"array\"",
        "schema": "#/definitions/Tool/properties/inputSchema/properties/type/const",
        "specification": "https://modelcontextprotocol.io/specification/2025-06-18/schema#tool",
    });
    assert_eq!(found, [("tools/list".to_owned(), expected)]);
    let (_, text) = check(&server, "text");
    assert!(
        text.contains("FAIL  tools/list\n      result.tools[1].inputSchema.type: expected"),
        "{text}"
    );
    let (_, xml) = check(&server, "junit");
    assert!(xml.contains("<testsuites tests=\"2\" failures=\"1\">"), "{xml}");
    assert!(
        xml.contains("<failure message=\"result.tools[1].inputSchema.type: expected &quot;object&quot;"),
        "{xml}"
    );
}

#[cfg(unix)]
#[test]
fn a_list_without_an_end_is_a_fault() {
    let server = script("", &[HELLO, ("tools/list", r#"{"tools":[],"nextCursor":"same"}"#)]);
    let (status, found) = findings(&server);
    assert_eq!((status, found.len()), (Some(1), 1), "{found:?}");
    assert_eq!(found[0].0, "tools/list");
    assert_eq!(found[0].1["message"], "the list repeats the cursor \"same\"");
}

#[cfg(unix)]
#[test]
fn structured_content_is_validated_against_the_output_schema() {
    let tools = r#"{"tools":[{"name":"sum","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},
        "outputSchema":{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}}]}"#
        .replace('\n', "");
    let result = r#"{"content":[],"structuredContent":{"n":"1"}}"#;
    let server = script("", &[HELLO, ("tools/list", &tools), ("tools/call", result)]);
    let (status, found) = findings(&server);
    assert_eq!((status, found.len()), (Some(1), 1), "{found:?}");
    assert_eq!(found[0].0, "tools/call sum");
    assert_eq!(found[0].1["path"], "result.structuredContent.n");
}

#[cfg(unix)]
#[test]
fn invalid_messages_and_unmatched_responses_are_violations() {
    let first = "echo ready; echo '{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}'; echo '{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}'";
    // They are sent after the first request, since messages before the session aren't validated.
    let server = script(
        &format!(
            "read -r line; {first}\nid=1\necho '{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}}'",
            HELLO.1
        ),
        &[("tools/list", r#"{"tools":[]}"#)],
    );
    let (status, found) = findings(&server);
    assert_eq!(status, Some(1), "{found:?}");
    let messages: Vec<String> = found
        .iter()
        .map(|(case, finding)| format!("{case}: {}", finding["message"]))
        .collect();
    let expected = [
        "messages: \"expected a message of JSON",
        "messages: \"a response that matches no request",
        "ping: \"expected an id",
    ];
    for beginning in expected {
        assert!(
            messages.iter().any(|message| message.starts_with(beginning)),
            "{beginning}: {messages:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_line_that_is_not_json_is_a_violation_before_the_session_too() {
    let server = script("echo Starting", &[HELLO, ("tools/list", r#"{"tools":[]}"#)]);
    let (status, found) = findings(&server);
    assert_eq!((status, found.len()), (Some(1), 1), "{found:?}");
    let message = found[0].1["message"].as_str().unwrap();
    assert!(
        message.starts_with("expected a message of JSON, found \"Starting\""),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn missing_responses_and_invalid_handshakes_are_violations() {
    let silent = script("", &[HELLO]);
    let silent: Vec<String> = silent
        .into_iter()
        .map(|part| part.replace("*'\"id\":'*) echo", "*'\"id\":'*) true"))
        .collect();
    let args = ["check", "--timeout", "1", "--revision", "2025-06-18"];
    let output = run(&[&args[..], &silent.iter().map(String::as_str).collect::<Vec<_>>()].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("FAIL  tools/list\n      the server sent no response"),
        "{}",
        stdout(&output)
    );

    let nameless = r#"{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"a"}}"#;
    let (status, found) = findings(&script("", &[("initialize", nameless)]));
    assert_eq!(status, Some(1), "{found:?}");
    assert_eq!(
        (&*found[0].0, &found[0].1["path"]),
        ("initialize", &json!("result.serverInfo"))
    );
}

#[cfg(unix)]
#[test]
fn the_end_of_the_server_is_a_fault_with_its_standard_error() {
    let has_prompts = HELLO.1.replace("{\"tools\":{}}", "{\"prompts\":{},\"completions\":{}}");
    let prompts = r#"{"prompts":[{"name":"a","arguments":[{"name":"b"}]}]}"#;
    let served = [("initialize", &*has_prompts), ("prompts/list", prompts)];
    let got = [("prompts/get", r#"{"messages":[]}"#)];
    for (last, results) in [
        ("tools/list", vec![HELLO]),
        ("prompts/get", served.to_vec()),
        ("completion/complete", [&served[..], &got].concat()),
    ] {
        let exits = format!("*{last}*) echo boom >&2; exit 7;;\n*'\"id\":'*) echo");
        let server = script("", &results).into_iter();
        let server: Vec<String> = server.map(|part| part.replace("*'\"id\":'*) echo", &exits)).collect();
        let (status, found) = findings(&server);
        assert_eq!(status, Some(1), "{found:?}");
        let (case, finding) = found.last().unwrap();
        let message = finding["message"].as_str().unwrap();
        assert!(
            case == "session" && message.contains("exit status: 7") && message.contains("boom"),
            "{last}: {found:?}"
        );
    }
}

#[test]
fn a_transcript_without_sessions_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let output = run(&["check", "--transcript", file.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("it has no sessions"), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn only_read_only_tools_are_called_unless_the_options_select_others() {
    let tools = r#"{"tools":[{"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"drop","inputSchema":{"type":"object"}}]}"#;
    let server = script("", &[HELLO, ("tools/list", tools), ("tools/call", r#"{"content":[]}"#)]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("arguments.json");
    std::fs::write(&file, r#"{"drop":{"name":"a"}}"#).unwrap();
    let left_out = "  (1 tool that may change something isn't called; see --tools)";
    let called = |more: &[&str]| {
        let args = ["check", "--revision", "2025-06-18"];
        let server: Vec<&str> = server.iter().map(String::as_str).collect();
        let report = succeeds(&[&args[..], more, &server].concat());
        assert_eq!(report.contains(left_out), more.is_empty(), "{report}");
        ["look", "drop"].map(|tool| report.contains(&format!("tools/call {tool}")))
    };
    assert_eq!(called(&[]), [true, false]);
    assert_eq!(called(&["--tools", "all"]), [true, true]);
    assert_eq!(called(&["--tools", "none"]), [false, false]);
    let with_file = ["--tools", "none", "--arguments", file.to_str().unwrap()];
    assert_eq!(called(&with_file), [false, true]);
    let with_json = ["--tools", "none", "--arguments", r#"{"drop":{"name":"a"}}"#];
    assert_eq!(called(&with_json), [false, true]);

    std::fs::write(&file, r#"{"dorp":{}}"#).unwrap();
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let misspelt = run(&[&["check", "--revision", "2025-06-18"][..], &with_file, &server].concat());
    assert_eq!(misspelt.status.code(), Some(1));
    let report = stdout(&misspelt);
    assert!(
        report.contains("FAIL  tools/call dorp\n") && report.contains("did you mean \"drop\"?"),
        "{report}"
    );
}

#[cfg(unix)]
#[test]
fn lists_beyond_the_limit_are_noted_and_named_tools_are_found_there() {
    let tool = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
    let tools = format!(r#"{{"tools":[{},{},{}]}}"#, tool("a"), tool("b"), tool("c"));
    let server = script(
        "",
        &[HELLO, ("tools/list", &tools), ("tools/call", r#"{"content":[]}"#)],
    );
    let report = |more: &[&str]| {
        let args = ["check", "--revision", "2025-06-18"];
        let server: Vec<&str> = server.iter().map(String::as_str).collect();
        succeeds(&[&args[..], more, &server].concat())
    };
    let cut =
        "tools/list  (--limit cuts this list after 1; 1 tool that may change something isn't called; see --tools)";
    for arguments in ["{}", r#"{"c":{}}"#] {
        let report = report(&["--limit", "1", "--arguments", arguments]);
        assert!(report.contains(cut), "{report}");
        assert_eq!(report.contains("tools/call c"), arguments.contains('c'), "{report}");
        assert!(!report.contains("tools/call b"), "{report}");
    }
    assert!(!report(&["--limit", "3"]).contains("--limit"));
}

#[test]
fn times_can_have_any_length() {
    let longest = u64::MAX.to_string();
    succeeds(&["check", "--wait", &longest, "--timeout", &longest, "--", weather()]);
}

#[test]
fn an_unreachable_server_has_exit_status_3() {
    let output = run(&["check", "--", "there-is-no-such-program"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
}

/// Validation with doubled references once took exponential time, which no timeout could stop. A chain of references
/// ends at a limit.
#[cfg(unix)]
#[test]
fn a_costly_output_schema_is_applied_or_reported_in_bounded_time() {
    let tool = |levels: usize, references: usize| {
        let definition = |level: usize| {
            let next = json!({"$ref": format!("#/$defs/{}", level + 1)});
            (level.to_string(), json!({"allOf": vec![next; references]}))
        };
        let mut definitions: serde_json::Map<String, Value> = (0..levels).map(definition).collect();
        definitions.insert(levels.to_string(), json!({"type": "string"}));
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/0"}},
            "$defs": definitions,
        });
        let tool = json!({"name": "a", "inputSchema": {"type": "object"}, "outputSchema": schema});
        let listed = json!({ "tools": [tool] }).to_string();
        let called = ("tools/call", r#"{"content":[],"structuredContent":{"a":"b"}}"#);
        let mut server = script("", &[HELLO, ("tools/list", &listed), called]);
        server.splice(0..0, ["--tools".to_owned(), "all".to_owned()]);
        findings(&server)
    };
    assert_eq!(tool(60, 2), (Some(0), vec![]));
    let (status, found) = tool(1_100, 1);
    assert_eq!(status, Some(1), "{found:?}");
    let [(case, finding)] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(case, "tools/call a");
    assert_eq!(finding["path"], "result.structuredContent.a");
    let message = finding["message"].as_str().unwrap();
    assert!(
        message.contains("can't be applied") && message.contains("1024 schemas"),
        "{message}"
    );
    assert!(message.contains("`#/$defs/"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_tool_whose_call_ends_in_an_error_gets_a_warning() {
    let tools = r#"{"tools":[{"name":"broken","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}"#;
    let failed = r#"{"content":[{"type":"text","text":"no database"}],"isError":true}"#;
    let refused = r#"{"code":-32602,"message":"no database"}"#;
    for (result, outcome) in [(failed, "ended in an error"), (refused, "refused")] {
        let server = script("", &[HELLO, ("tools/list", tools), ("tools/call", result)]);
        let (status, report) = check(&server, "text");
        assert_eq!(status, Some(0), "{report}");
        let warning = format!("      warning: it was called once, and {outcome}: no database\n");
        assert!(
            report.contains(&warning) && report.contains("passed, with a warning;"),
            "{report}"
        );
        let (_, report) = check(&server, "junit");
        assert!(
            report.contains(&format!("<system-out>it was called once, and {outcome}")),
            "{report}"
        );
    }
}

#[test]
fn the_wait_option_waits_for_a_server_that_starts_later() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", free.local_addr().unwrap());
    drop(free);
    assert_eq!(run(&["check", &url]).status.code(), Some(3));
    let server = ["bridge", "--listen", &url, "--", weather()];
    let mut check = mcp_rev(&["check", "--wait", "60", &url])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut server = mcp_rev(&server).stderr(std::process::Stdio::null()).spawn().unwrap();
    let checked = check.wait();
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(checked.unwrap().code(), Some(0));
}
