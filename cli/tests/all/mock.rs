//! `mcp-rev mock`.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::json;

use crate::servers::{REVISIONS, everything, mcp_rev, run, stderr, stdout, succeeds, weather};

#[test]
fn a_recorded_session_is_served_with_the_recorded_responses() {
    let directory = tempfile::tempdir().unwrap();
    let transcript = directory.path().join("session.jsonl");
    let transcript = transcript.to_str().unwrap();
    for revision in REVISIONS {
        let call = [
            "call",
            "weather",
            "--arg",
            "city=Bern",
            "--format",
            "json",
            "--revision",
            revision,
        ];
        let bridge = [
            "--",
            env!("CARGO_BIN_EXE_mcp-rev"),
            "bridge",
            "--record",
            transcript,
            "--",
            weather(),
        ];
        let recorded = succeeds(&[&call[..], &bridge].concat());
        let mock = ["--", env!("CARGO_BIN_EXE_mcp-rev"), "mock", transcript];
        assert_eq!(succeeds(&[&call[..], &mock].concat()), recorded, "{revision}");
        let other = ["call", "weather", "--arg", "city=Basel", "--revision", revision];
        let refused = run(&[&other[..], &mock].concat());
        assert_eq!(refused.status.code(), Some(1));
        let reason = stderr(&refused);
        assert!(
            reason.contains("tools/call wasn't recorded with these parameters"),
            "{reason}"
        );
    }
}

#[test]
fn a_file_of_another_kind_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("other.json");
    std::fs::write(&file, r#"{"mcpServers":{}}"#).unwrap();
    let refused = run(&["mock", file.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    let error = "it is neither a snapshot, which has `tools`, nor what `mcp-rev bridge --record` writes\n";
    assert!(stderr(&refused).ends_with(error), "{}", stderr(&refused));
}

#[test]
fn a_recording_may_have_messages_that_are_not_objects() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("odd.jsonl");
    let recorded = [
        ("sent", json!({"jsonrpc": "2.0", "id": null, "method": "ping"})),
        ("received", json!("text")),
        ("received", json!([1, null, "text"])),
        ("received", json!({"jsonrpc": "2.0", "id": null, "result": {}})),
    ];
    let lines = recorded.map(|(direction, message)| {
        let line = json!({"time": 1.0, "session": 1, "side": "server", "direction": direction, "message": message});
        format!("{line}\n")
    });
    std::fs::write(&file, lines.concat()).unwrap();
    let sent = directory.path().join("sent");
    std::fs::write(&sent, b"\xff\n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n").unwrap();
    let mut mock = mcp_rev(&["mock", file.to_str().unwrap()]);
    let served = mock.stdin(std::fs::File::open(&sent).unwrap()).output().unwrap();
    let expected = [
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "it isn't JSON"}}),
        json!({"jsonrpc": "2.0", "id": 7, "result": {}}),
    ];
    assert_eq!(stdout(&served), expected.map(|it| format!("{it}\n")).concat());
    assert!(served.status.success(), "{}", stderr(&served));
}

#[test]
fn a_snapshot_is_served_with_made_up_values() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("interface.json");
    let file = file.to_str().unwrap();
    let snapshot = succeeds(&["snapshot", "--", everything()]);
    std::fs::write(file, &snapshot).unwrap();
    let mock = ["--", env!("CARGO_BIN_EXE_mcp-rev"), "mock", file];
    let differs = run(&[&["diff", file][..], &mock].concat());
    assert_eq!(
        differs.status.code(),
        Some(1),
        "the mock lacks capabilities, such as logging"
    );
    assert!(!stdout(&differs).contains("tool "), "{}", stdout(&differs));
    for revision in REVISIONS {
        let call = ["call", "test_structured", "--revision", revision];
        let called = succeeds(&[&call[..], &mock].concat());
        assert!(called.contains("\"celsius\""), "{called}");
        let read = ["read", "test://static-text", "--revision", revision];
        assert_eq!(succeeds(&[&read[..], &mock].concat()), "example");
    }
    let refused = run(&[&["call", "test_elicitation", "--args", "{}"][..], &mock].concat());
    assert_eq!(refused.status.code(), Some(1), "the input schema is checked");
    assert_eq!(
        succeeds(&[&["check", "--tools", "all"][..], &mock].concat())
            .matches("FAIL")
            .count(),
        0
    );
}

#[test]
fn a_line_over_the_limit_is_refused_before_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("session.jsonl");
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let line = json!({"time": 1.0, "session": 1, "side": "server", "direction": "sent", "message": message});
    std::fs::write(&file, format!("{line}\n")).unwrap();
    let mut mock = mcp_rev(&["mock", file.to_str().unwrap()]);
    let mut mock = mock.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = mock.stdin.take().unwrap();
    input.write_all(&vec![b'x'; 64 << 20]).unwrap();
    let mut refusal = String::new();
    BufReader::new(mock.stdout.take().unwrap())
        .read_line(&mut refusal)
        .unwrap();
    assert!(refusal.contains("-32700"), "{refusal}");
    drop(input);
    assert!(mock.wait().unwrap().success());
}
