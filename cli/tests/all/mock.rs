//! `mcp-rev mock`.

use crate::servers::{REVISIONS, run, stderr, succeeds, weather};

#[test]
fn a_recorded_session_is_a_server_that_answers_the_same_again() {
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
