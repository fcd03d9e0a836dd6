//! `snapshot` and `diff`.

use serde_json::{Value, json};

#[cfg(unix)]
use crate::servers::{HELLO, script};
use crate::servers::{run, stderr, stdout, succeeds, weather};

#[test]
fn a_snapshot_is_compared_with_a_server_and_with_another_snapshot() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (old, new) = (path("old.json"), path("new.json"));
    let snapshot = succeeds(&["snapshot", "--", weather()]);
    std::fs::write(&old, &snapshot).unwrap();
    assert_eq!(succeeds(&["diff", &old, "--", weather()]), "");
    // As some editors save it, with a byte order mark.
    std::fs::write(&new, format!("\u{feff}{snapshot}")).unwrap();
    assert_eq!(succeeds(&["diff", &old, &new]), "");

    let mut changed: Value = serde_json::from_str(&snapshot).unwrap();
    changed["tools"][0]["inputSchema"]["required"] = json!(["city", "country"]);
    changed["tools"][0]["inputSchema"]["properties"]["country"] = json!({"type": "string"});
    changed["tools"][0]["description"] = json!("Other words");
    std::fs::write(&new, changed.to_string()).unwrap();
    let compared = run(&["diff", &old, &new]);
    assert_eq!(compared.status.code(), Some(1));
    let expected = "  breaking  tool weather  argument country: added, and required\n  risky     tool weather  description changed\n";
    assert_eq!(stdout(&compared), expected);
    let changes = run(&["diff", &old, &new, "--format", "json"]);
    let changes: Value = serde_json::from_str(&stdout(&changes)).unwrap();
    assert_eq!(changes[0]["effect"], "breaking");

    std::fs::write(&new, "{}").unwrap();
    let refused = run(&["diff", &old, &new]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("there are no `tools`"),
        "{}",
        stderr(&refused)
    );
}

#[cfg(unix)]
#[test]
fn no_snapshot_is_printed_if_a_list_fails() {
    let server = script("", &[HELLO, ("tools/list", r#"{"code":-32603,"message":"broken"}"#)]);
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let failed = run(&[&["snapshot"][..], &server].concat());
    assert_eq!((failed.status.code(), stdout(&failed).as_str()), (Some(1), ""));
    assert!(
        stderr(&failed).contains("the list of tools fails: "),
        "{}",
        stderr(&failed)
    );
}
