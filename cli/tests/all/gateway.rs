//! `mcp-rev gateway`, with `mcp-rev` as its client.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::json;

use crate::servers::{HttpServer, REVISIONS, mcp_rev, run, stderr, succeeds, weather};

#[test]
fn the_gateway_combines_servers_of_a_file_for_every_revision() {
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
fn a_file_without_servers_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mcp.json");
    std::fs::write(&file, r#"{"mcpServers":{}}"#).unwrap();
    let refused = run(&["gateway", file.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(
        stderr(&refused),
        format!("error: {}: it names no server\n", file.display())
    );
}

#[test]
fn a_server_that_cannot_be_started_is_logged_only_once() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mcp.json");
    let broken = json!({"command": "sh", "args": ["-c", "exit 3"]});
    let servers = json!({"mcpServers": {"weather": {"command": weather()}, "broken": broken}});
    std::fs::write(&file, servers.to_string()).unwrap();
    let piped = Stdio::piped;
    let mut gateway = mcp_rev(&["gateway", file.to_str().unwrap()]);
    let mut gateway = gateway.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
    let (mut input, output) = (gateway.stdin.take().unwrap(), gateway.stdout.take().unwrap());
    let mut answers = BufReader::new(output).lines();
    let info = json!({"name": "test", "version": "1.0"});
    let begin = json!({"protocolVersion": "2025-06-18", "clientInfo": info, "capabilities": {}});
    let none = json!({});
    let mut call = |id: u64, method: &str, params: &serde_json::Value| {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{request}").unwrap();
        answers.next().unwrap().unwrap()
    };
    call(1, "initialize", &begin);
    for (id, method) in [
        (2, "tools/list"),
        (3, "prompts/list"),
        (4, "resources/list"),
        (5, "tools/list"),
    ] {
        let answer = call(id, method, &none);
        assert!(answer.contains("result"), "{answer}");
    }
    drop(input);
    let told = stderr(&gateway.wait_with_output().unwrap());
    assert_eq!(told.matches("a server can't be used").count(), 1, "{told}");
    assert_eq!(told.matches("WARN").count(), 1, "{told}");
    assert!(told.contains("exit status: 3"), "{told}");
}

#[cfg(unix)]
#[test]
fn a_server_that_hangs_is_omitted_from_lists_after_the_timeout() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mcp.json");
    let hanging = json!({"command": "sleep", "args": ["60"]});
    let servers = json!({"mcpServers": {"weather": {"command": weather()}, "hanging": hanging}});
    std::fs::write(&file, servers.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let gateway = ["--", env!("CARGO_BIN_EXE_mcp-rev"), "gateway", file, "--timeout", "1"];
    // Without the option, the first list takes 20 seconds.
    let shown = succeeds(&[&["tool", "weather_weather", "--timeout", "15"][..], &gateway].concat());
    assert!(shown.contains("weather of a city"), "{shown}");
}

#[test]
fn invalid_files_and_options_of_the_gateway_are_refused() {
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
        (json!({"a": {"disabled": true}}), "all its servers are disabled"),
    ] {
        std::fs::write(&file, json!({"mcpServers": servers}).to_string()).unwrap();
        let refused = run(&["gateway", file.to_str().unwrap()]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(reason), "{}", stderr(&refused));
    }
    std::fs::write(&file, r#"{"mcpServers":{"a":{"command":"x"},"c":{"disabled":true}}}"#).unwrap();
    let refused = run(&["gateway", file.to_str().unwrap(), "--timeout", "0"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("at least one second"), "{}", stderr(&refused));
    for (address, reason) in [
        ("https://127.0.0.1:1/mcp", "without TLS"),
        ("http://127.0.0.1:99999/mcp", "invalid port number"),
        ("127.0.0.1:1", "nor a URL such as"),
    ] {
        let refused = run(&["gateway", file.to_str().unwrap(), "--listen", address]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(reason), "{}", stderr(&refused));
    }
    for (name, reason) in [
        ("b", "mcp.json has no server \"b\""),
        ("c", "mcp.json: server \"c\" is disabled"),
    ] {
        let refused = run(&["gateway", file.to_str().unwrap(), "--only", name]);
        assert!(stderr(&refused).contains(reason), "{}", stderr(&refused));
    }
}
