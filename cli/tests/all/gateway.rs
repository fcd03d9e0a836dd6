//! `mcp-rev gateway`, with `mcp-rev` as its client.

use serde_json::json;

use crate::servers::{HttpServer, REVISIONS, run, stderr, succeeds, weather};

#[test]
fn servers_of_a_file_are_one_over_stdio_for_every_revision() {
    let http = HttpServer::start();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mcp.json");
    let servers = json!({"mcpServers": {
        "weather": {"command": weather()},
        "remote": {"url": http.url},
    }});
    std::fs::write(&file, servers.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let gateway = ["--", env!("CARGO_BIN_EXE_mcp-rev"), "gateway", file];
    for revision in REVISIONS {
        let args = [&["inspect", "--revision", revision][..], &gateway].concat();
        let shown = succeeds(&args);
        for line in [
            "weather_weather",
            "remote_test_simple_text",
            "test://static-text",
            "remote_test_simple_prompt",
        ] {
            assert!(shown.contains(line), "{revision} {line}: {shown}");
        }
        let args = [
            &["call", "weather_weather", "--arg", "city=Bern", "--revision", revision][..],
            &gateway,
        ]
        .concat();
        assert!(succeeds(&args).contains("21.5"));
    }
    let only = [&["inspect"][..], &gateway, &["--only", "weather", "--flat"]].concat();
    let shown = succeeds(&only);
    assert!(shown.contains("Tools (1)") && shown.contains("  weather  "), "{shown}");
}

#[test]
fn a_wrong_file_is_refused_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mcp.json");
    for (servers, reason) in [
        (
            json!({"a": {"command": "x"}, "a b": {"command": "x"}, "a-b": {"command": "x"}}),
            "two servers are named",
        ),
        (
            json!({"git": {"command": "x"}, "git_hub": {"command": "x"}}),
            "give one of them another name",
        ),
        (json!({"a": {}}), "either a `command` or a `url`"),
    ] {
        std::fs::write(&file, json!({"mcpServers": servers}).to_string()).unwrap();
        let refused = run(&["gateway", file.to_str().unwrap()]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(reason), "{}", stderr(&refused));
    }
    std::fs::write(&file, r#"{"mcpServers":{"a":{"command":"x"}}}"#).unwrap();
    let refused = run(&["gateway", file.to_str().unwrap(), "--only", "b"]);
    assert!(
        stderr(&refused).contains("the file has no server \"b\""),
        "{}",
        stderr(&refused)
    );
}
