//! The examples, run as users run them.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Once;

use mcp_runtime::http::HeaderMap;
use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::{CallServer, Options, Revision, hub};
use serde_json::{Value, json};

use crate::common::connect_to;

/// The examples that are run here.
const EXAMPLES: [&str; 8] = [
    "asked",
    "axum_app",
    "hyper",
    "proxy",
    "traces",
    "upgrade",
    "weather",
    "weather_unix",
];

/// The program of an example. Cargo builds all of them at once, unless it has built them with the tests.
fn example(name: &str) -> PathBuf {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        let selected = EXAMPLES.iter().flat_map(|name| ["--example", name]);
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--workspace", "--all-features"]);
        // Cargo's variables for the tests of a package must not reach the build: with them, the build script of `ring`
        // would run again, and everything that depends on it would be built again.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CARGO_PKG_") || name.to_string_lossy().starts_with("CARGO_MANIFEST_")
            {
                cargo.env_remove(name);
            }
        }
        assert!(cargo.args(selected).status().unwrap().success(), "they aren't built");
    });
    assert!(EXAMPLES.contains(&name));
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    profile.join("examples").join(name)
}

/// The output of a program for this input.
fn run(command: &mut Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn upgrade_writes_stored_lists_in_the_latest_revision() {
    let stored = json!({"tools": [{"name": "draw", "inputSchema": {"type": "object"}}]}).to_string();
    let output = run(
        Command::new(example("upgrade")).arg("2024-11-05"),
        &format!("{stored}\n{stored}\n"),
    );
    assert!(output.status.success(), "{output:?}");
    let lists: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lists.len(), 2);
    assert_eq!(
        lists[0]["tools"],
        json!([{"name": "draw", "inputSchema": {"type": "object"}}])
    );
    // In the latest revision, each result declares its type.
    assert_eq!(lists[0]["resultType"], "complete");
    assert!(Revision::HUB.validate_result("tools/list", &(&lists[0]).into()).is_ok());
}

#[test]
fn proxy_lets_a_client_of_one_revision_use_a_server_of_another() {
    let request = |id: u8, method: &str, params: Value| {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        format!("{request}\n")
    };
    let client = json!({"name": "client", "version": "1.0"});
    let input = [
        request(
            1,
            "initialize",
            json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client}),
        ),
        "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}\n".to_owned(),
        request(2, "tools/list", json!({})),
        request(
            3,
            "tools/call",
            json!({"name": "weather", "arguments": {"city": "Bern"}}),
        ),
    ];
    let mut proxy = Command::new(example("proxy"));
    let proxy = proxy.args(["2024-11-05", "2025-11-25"]).arg(example("weather"));
    let output = run(proxy, &input.concat());
    assert!(output.status.success(), "{output:?}");
    let mut answers: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[0]["result"]["protocolVersion"], "2024-11-05");
    let tool = &answers[1]["result"]["tools"][0];
    assert!(
        tool["name"] == "weather" && tool.get("outputSchema").is_none(),
        "{tool}"
    );
    let called = json!({"content": [{"type": "text", "text": "{\"celsius\":21.5}"}]});
    let result = &answers[2]["result"];
    assert!(
        result["content"] == called["content"] && result.get("structuredContent").is_none(),
        "{result}"
    );
    assert!(
        text(&output.stderr).contains("CallToolResult: `structuredContent` dropped"),
        "{output:?}"
    );
}

#[test]
fn asked_shows_a_form_and_answers_in_both_eras() {
    for revision in [Revision::V2025_11_25, Revision::HUB] {
        let output = run(Command::new(example("asked")).arg(revision.as_str()), "");
        let said = text(&output.stdout);
        assert!(said.starts_with("Where do you want to go?\n  city: "), "{said}");
        assert!(said.ends_with("You said: Plan 3 days in Bern in Winter.\n"), "{said}");
    }
}

#[test]
fn traces_exports_the_span_of_a_call_within_the_trace_of_its_caller() {
    let output = run(&mut Command::new(example("traces")), "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let spans = text(&output.stdout).split("Span #0");
    let span = spans
        .filter(|span| span.contains("tools/call ping"))
        .collect::<Vec<_>>();
    let [span] = span[..] else {
        panic!("{}", text(&output.stdout));
    };
    for fact in [
        "TraceId      : 0af7651916cd43dd8448eb211c80319c",
        "ParentSpanId : b7ad6b7169203331",
        "Kind         : Server",
        r#"mcp.method.name: String(Owned("tools/call"))"#,
        r#"gen_ai.tool.name: String(Owned("ping"))"#,
    ] {
        assert!(span.contains(fact), "there is no {fact} in {span}");
    }
}

#[tokio::test]
async fn axum_app_authenticates_and_shares_its_state_with_the_tools() {
    let mut app = Command::new(example("axum_app"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(app.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let url = url.trim();
    let token = |headers: &mut HeaderMap| {
        headers.insert("authorization", "Bearer ada".parse().unwrap());
    };
    let connect_with = async |options: HttpOptions| {
        let transport = HttpClient::new(&format!("{url}/mcp"), options).unwrap();
        connect_to(transport, Options::default()).await
    };
    assert!(connect_with(HttpOptions::default()).await.is_err());
    let session = connect_with(HttpOptions::default().headers(token)).await.unwrap();
    let params = hub::CallToolRequestParams::new("post").with_arguments(json!({"text": "Hello"}));
    let result = session.peer().call_tool(params).await.unwrap();
    assert_eq!(json!(result.content), json!([{"type": "text", "text": "1"}]));
    let page = reqwest::Client::new()
        .get(format!("{url}/board"))
        .bearer_auth("bob")
        .send();
    assert_eq!(page.await.unwrap().text().await.unwrap(), "ada: Hello");
    session.close().await;
    drop(app.stdin.take());
    assert!(app.wait().unwrap().success());
}

#[tokio::test]
async fn hyper_serves_clients_of_every_era() {
    let mut server = Command::new(example("hyper"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut url)
        .unwrap();
    for revision in Revision::ALL.into_iter().filter(|revision| revision.facts().released) {
        let options = Options {
            supported: vec![revision],
            ..Options::default()
        };
        let transport = HttpClient::new(url.trim(), HttpOptions::default()).unwrap();
        let session = connect_to(transport, options);
        let session = session.await.unwrap();
        let result = session
            .peer()
            .call_tool(hub::CallToolRequestParams::new("weather"))
            .await;
        let expected = json!([{"type": "text", "text": "sunny"}]);
        assert_eq!(json!(result.unwrap().content), expected, "{revision}");
        session.close().await;
    }
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success());
}

#[cfg(unix)]
#[tokio::test]
async fn weather_unix_serves_its_client_on_a_socket() {
    use tokio::io::{AsyncBufReadExt, BufReader};

    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("weather.sock");
    let program = example("weather_unix");
    let mut server = tokio::process::Command::new(&program)
        .arg("serve")
        .arg(&socket)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), socket.to_str().unwrap());
    let client = run(Command::new(&program).arg("call").arg(&socket).arg("Bern"), "");
    assert_eq!(text(&client.stdout), "[{\"type\":\"text\",\"text\":\"21.5 °C\"}]\n");
    assert!(client.status.success() && socket.exists());
    let id = server.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert!(server.wait().await.unwrap().success());
    assert!(!socket.exists());
}
