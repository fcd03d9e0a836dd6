//! `mcp-rev replay` with servers that respond as recorded, and with servers that don't.

use crate::servers::{HttpServer, REVISIONS, everything, run, stderr, stdout, succeeds};
use serde_json::{Value, json};

const BRIDGE: &str = env!("CARGO_BIN_EXE_mcp-rev");

/// A directory with files for a test.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }
}

/// Records a session in which the server requests text of a model, and the client lists all pages of the tools.
fn record(files: &Files, revision: &str) -> String {
    let answers = files.write("answers.json", &json!({"sampling": ["a model's text"]}).to_string());
    let transcript = files.path(&format!("{revision}.jsonl"));
    let call = [
        "call",
        "test_sampling",
        "--arg",
        "prompt=hello",
        "--revision",
        revision,
        "--answers",
        &answers,
    ];
    let bridge = ["--", BRIDGE, "bridge", "--record", &transcript, "--", everything()];
    succeeds(&[&call[..], &bridge].concat());
    transcript
}

#[test]
fn replaying_against_the_recorded_server_finds_no_differences() {
    let (files, http) = (Files::new(), HttpServer::start());
    for revision in REVISIONS {
        let transcript = record(&files, revision);
        for server in [&["--", everything()][..], &[&http.url]] {
            let longest = u64::MAX.to_string();
            let report = succeeds(&[&["replay", &transcript, "--timeout", &longest][..], server].concat());
            assert!(report.contains(&format!("revision {revision}")), "{report}");
            assert!(report.contains("ok    tools/call test_sampling"), "{report}");
            assert!(!report.contains("FAIL"), "{report}");
        }
        // The clients of the bridge can be replayed as well, for example against another bridge. Tools that only run as
        // tasks aren't in its lists.
        let bridge = ["--", BRIDGE, "bridge", "--speak", "2025-06-18", "--", everything()];
        let ignored = [
            "--ignore",
            "/result/capabilities",
            "--ignore",
            "/result/supportedVersions",
            "--ignore",
            "/params/_meta",
            "--ignore",
            "/result/tools",
        ];
        let report = succeeds(&[&["replay", &transcript, "--side", "client"][..], &ignored, &bridge].concat());
        assert!(report.contains("ok    tools/call test_sampling"), "{report}");
    }
}

/// Writes a transcript like those of older bridges, which had only messages.
fn transcript(files: &Files, messages: &[(&str, Value)]) -> String {
    let lines = messages.iter().map(|(direction, message)| {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        let line = json!({
            "time": 1.5, "session": 2, "side": "server", "direction": direction, "revision": "2025-06-18", "message": message,
        });
        format!("{line}\n")
    });
    files.write("transcript.jsonl", &lines.collect::<String>())
}

fn handshake() -> Vec<(&'static str, Value)> {
    let client = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}, "clientInfo": {"name": "c", "version": "1"}});
    let server =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}});
    vec![
        ("sent", json!({"id": 1, "method": "initialize", "params": client})),
        ("received", json!({"id": 1, "result": server})),
        ("sent", json!({"method": "notifications/initialized"})),
    ]
}

/// A server in a shell script that answers each line of input by these cases.
fn script(cases: &str) -> Vec<String> {
    let hello = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"2"}}}"#;
    let program =
        format!("while read -r line; do\ncase \"$line\" in\n*'\"initialize\"'*) echo '{hello}';;\n{cases}\nesac\ndone");
    ["--", "sh", "-c", &program].map(str::to_owned).into()
}

/// Returns the exit status of a replay, and its findings: the case, the path, the recorded value and the current one.
fn replayed(transcript: &str, args: &[&str], server: &[String]) -> (Option<i32>, Vec<Value>) {
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let output = run(&[
        &["replay", transcript, "--format", "json", "--timeout", "20"],
        args,
        &server,
    ]
    .concat());
    let reports: Value = serde_json::from_str(&stdout(&output)).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let cases = reports
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|report| report["cases"].as_array().unwrap());
    let findings = cases.flat_map(|case| {
        let findings = case["findings"].as_array().unwrap().iter();
        findings.map(|finding| json!([case["name"], finding["path"], finding["recorded"], finding["now"]]))
    });
    (output.status.code(), findings.collect())
}

#[cfg(unix)]
#[test]
fn different_responses_are_reported_unless_ignored() {
    let files = Files::new();
    let mut messages = handshake();
    messages.push((
        "sent",
        json!({"id": 2, "method": "tools/call", "params": {"name": "weather"}}),
    ));
    messages.push((
        "received",
        json!({"id": 2, "result": {"content": [{"type": "text", "text": "18"}]}}),
    ));
    let transcript = transcript(&files, &messages);
    let server = script(
        r#"*weather*) echo '{"jsonrpc":"2.0","id":2,"result":{"content":[{"text":"19","type":"text"}],"isError":false}}';;"#,
    );
    let (status, findings) = replayed(&transcript, &[], &server);
    assert_eq!(status, Some(1));
    let expected = [
        json!(["initialize (id 1)", "/result/serverInfo/version", "1", "2"]),
        json!(["tools/call weather (id 2)", "/result/content/0/text", "18", "19"]),
        json!(["tools/call weather (id 2)", "/result/isError", null, false]),
    ];
    assert_eq!(findings, expected);
    let ignored = [
        "--ignore",
        "/result/serverInfo/version",
        "--ignore",
        "/result/content/*/text",
        "--ignore",
        "/result/isError",
    ];
    assert_eq!(replayed(&transcript, &ignored, &server), (Some(0), Vec::new()));
}

#[cfg(unix)]
#[test]
fn the_server_can_use_other_ids_and_cursors_than_recorded() {
    let files = Files::new();
    let mut messages = handshake();
    messages.extend([
        ("sent", json!({"id": 2, "method": "tools/list"})),
        ("received", json!({"id": 7, "method": "roots/list"})),
        ("sent", json!({"id": 7, "result": {"roots": [{"uri": "file:///then"}]}})),
        (
            "received",
            json!({"id": 2, "result": {"tools": [], "nextCursor": "then"}}),
        ),
        (
            "sent",
            json!({"id": 3, "method": "tools/list", "params": {"cursor": "then"}}),
        ),
        ("received", json!({"id": 3, "result": {"tools": []}})),
    ]);
    let transcript = transcript(&files, &messages);
    // The list comes only after the response with the server's own id, and the second page only for the server's own
    // cursor.
    let server = script(
        r#"*'"cursor":"now"'*) echo '{"jsonrpc":"2.0","id":3,"result":{"tools":[]}}';;
*cursor*) echo '{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"a wrong cursor"}}';;
*tools/list*) echo '{"jsonrpc":"2.0","id":"q","method":"roots/list"}';;
*'"id":"q"'*then*|*then*'"id":"q"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[],"nextCursor":"now"}}';;"#,
    );
    let ignored = ["--ignore", "/result/serverInfo"];
    assert_eq!(replayed(&transcript, &ignored, &server), (Some(0), Vec::new()));
}

#[cfg(unix)]
#[test]
fn a_message_waits_only_for_the_responses_before_it_in_the_recording() {
    let files = Files::new();
    let mut messages = handshake();
    messages.extend([
        ("sent", json!({"id": 2, "method": "first"})),
        ("received", json!({"id": 2, "result": {}})),
        ("sent", json!({"id": 3, "method": "hangs"})),
        ("sent", json!({"method": "notifications/cancelled", "params": {"requestId": 3}})),
        ("sent", json!({"id": 4, "method": "last"})),
        ("received", json!({"id": 4, "result": {"lines": ["notifications/initialized", "first", "hangs", "notifications/cancelled"]}})),
    ]);
    let transcript = transcript(&files, &messages);
    // The last response states the order in which the messages arrived.
    let server = script(
        r#"*first*) sleep 0.5; lines="\"notifications/initialized\",\"first\""; echo '{"jsonrpc":"2.0","id":2,"result":{}}';;
*hangs*) lines="$lines,\"hangs\"";;
*cancelled*) lines="$lines,\"notifications/cancelled\"";;
*last*) echo '{"jsonrpc":"2.0","id":4,"result":{"lines":['$lines']}}';;"#,
    );
    let ignored = ["--ignore", "/result/serverInfo"];
    assert_eq!(replayed(&transcript, &ignored, &server), (Some(0), Vec::new()));
}

#[cfg(unix)]
#[test]
fn a_server_that_exits_or_does_not_respond_is_reported() {
    let files = Files::new();
    let mut messages = handshake();
    messages.push(("sent", json!({"id": 2, "method": "tools/list"})));
    messages.push(("received", json!({"id": 2, "result": {"tools": []}})));
    let transcript = transcript(&files, &messages);
    for (server, reason) in [
        (script("*tools/list*) exit 3;;"), "exit status: 3"),
        (script(""), "not received within 1s"),
    ] {
        let server: Vec<&str> = server.iter().map(String::as_str).collect();
        let args = [
            "replay",
            &transcript,
            "--timeout",
            "1",
            "--ignore",
            "/result/serverInfo",
        ];
        let output = run(&[&args[..], &server].concat());
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let report = stdout(&output);
        assert!(
            report.contains("FAIL  tools/list (id 2)") && report.contains(reason),
            "{report}"
        );
    }
    for server in [
        &["--", "false"][..],
        &["--", "/nowhere/server"],
        &["http://127.0.0.1:1/mcp"],
    ] {
        let output = run(&[&["replay", &transcript][..], server].concat());
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    }
    let output = run(&["replay", &transcript, "--side", "client", "--", "false"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("session 2, from the server to the bridge, revision 2025-06-18"));
}

#[test]
fn the_error_for_a_wrong_transcript_explains_what_one_is() {
    let files = Files::new();
    let file = &files.write("session.jsonl", "{}\n");
    for arguments in [&["replay", file, "--", "none"][..], &["check", "--transcript", file]] {
        let refused = run(arguments);
        assert_eq!(refused.status.code(), Some(2));
        let expected = "it isn't what `mcp-rev bridge --record` writes: line 1: missing field `time`";
        assert!(stderr(&refused).contains(expected), "{}", stderr(&refused));
    }
}

#[test]
fn an_incomplete_last_line_of_a_transcript_is_left_out_with_a_warning() {
    let files = Files::new();
    let line = json!({"time": 1, "session": 1, "side": "server", "direction": "received", "revision": "2025-11-25",
        "message": {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}});
    let (line, warning) = (line.to_string(), "line 2 is incomplete, and is left out");
    let cut = files.write("cut.jsonl", &format!("{line}\n{}", &line[..line.len() / 2]));
    let checked = run(&["check", "--transcript", &cut]);
    assert_eq!(checked.status.code(), Some(0), "{}", stderr(&checked));
    assert!(stderr(&checked).contains(warning), "{}", stderr(&checked));
    let wrong = files.write("wrong.jsonl", &format!("{line}\n{{\"time\"\n"));
    let refused = run(&["check", "--transcript", &wrong]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("line 2: EOF"), "{}", stderr(&refused));
}

#[test]
fn the_error_for_a_missing_session_lists_the_recorded_ones() {
    let files = Files::new();
    let line = json!({"time": 1, "session": 1, "side": "server", "direction": "received", "revision": "2025-11-25",
        "message": {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}});
    let file = files.write("session.jsonl", &line.to_string());
    for arguments in [
        &["replay", &file, "--session", "9", "--", "none"][..],
        &["mock", &file, "--session", "9"],
    ] {
        let refused = run(arguments);
        assert_eq!(refused.status.code(), Some(2));
        let expected = "it has only these sessions:\n  session 1, from the server to the bridge, revision 2025-11-25";
        assert!(stderr(&refused).contains(expected), "{}", stderr(&refused));
    }
}
