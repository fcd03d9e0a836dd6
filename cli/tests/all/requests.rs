//! `complete`, `ping` and `set-level`.

use crate::servers::{REVISIONS, everything, run, stderr, succeeds};

#[test]
fn complete_prints_suggestions_and_ping_prints_times() {
    for revision in REVISIONS {
        let server = ["--revision", revision, "--", everything()];
        let prompt = ["complete", "--prompt", "test_prompt_with_arguments", "arg1="];
        let shown = succeeds(&[&prompt[..], &server].concat());
        assert!(!shown.is_empty(), "{revision}");
        let shown = succeeds(&[&["ping", "--count", "2"][..], &server].concat());
        assert!(
            shown.starts_with("1: ") && shown.contains("\n2: ") && shown.ends_with(" ms\n"),
            "{shown}"
        );
    }
}

#[test]
fn answers_of_a_file_are_checked_and_unanswered_requests_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answers.json");
    let asked = |answers: &str| {
        std::fs::write(&file, answers).unwrap();
        let call = ["call", "test_elicitation", "--arg", "message=Who?", "--answers"];
        run(&[&call[..], &[file.to_str().unwrap(), "--", everything()]].concat())
    };
    let wrong = asked(r#"{"elicitation":[{"action":"accepted"}]}"#);
    assert_eq!(wrong.status.code(), Some(2));
    let reason = r#"elicitation[0].action: expected accept, decline or cancel, found "accepted""#;
    assert!(stderr(&wrong).contains(reason), "{}", stderr(&wrong));
    let list = asked(r#"[[{"action":"accept"}]]"#);
    assert_eq!(list.status.code(), Some(2));
    assert!(stderr(&list).contains("expected an object"), "{}", stderr(&list));
    let none_left = asked(r#"{"elicitation":[]}"#);
    assert_eq!(none_left.status.code(), Some(0), "{}", stderr(&none_left));
    assert!(
        stderr(&none_left).contains("[declined] the server asks: Who?"),
        "{}",
        stderr(&none_left)
    );
    let reason = "[declined] the file of --answers has no further answer";
    assert!(stderr(&none_left).contains(reason), "{}", stderr(&none_left));
}

#[test]
fn set_level_works_in_revisions_with_sessions() {
    let set = |revision| run(&["set-level", "warning", "--revision", revision, "--", everything()]);
    assert_eq!(set("2024-11-05").status.code(), Some(0));
    assert_eq!(set("2025-11-25").status.code(), Some(0));
    let refused = set("2026-07-28");
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("has no request that sets the level"),
        "{}",
        stderr(&refused)
    );
}
