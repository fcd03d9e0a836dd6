//! Responses of a server process that can't be read.

use std::time::Duration;

use mcp_runtime::bridge::{Bridge, BridgeOptions};
use mcp_runtime::transport::stdio::{ChildTransport, LineLimits, SpawnOptions, spawn};
use mcp_runtime::transport::{Outgoing, Purpose, Sender, Transport, TransportError, channel};
use mcp_runtime::{CallError, Client, Options};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

use crate::common::{PATIENCE, with_handshake};

/// Commands that write the response to a call of a tool, and the reasons why it can't be read.
const RESPONSES: [(&str, &str); 4] = [
    (
        r#"printf '{"jsonrpc":"2.0","id":2,"result":{"content":[],"x":"%s"}}\n' "$long""#,
        "more than 10000 bytes",
    ),
    (
        r#"printf '{"result":{"content":[],"x":"%s"},"jsonrpc":"2.0","id":2}\n' "$long""#,
        "more than 10000 bytes",
    ),
    (
        r#"printf '{"jsonrpc":"2.0","id":2,"result":{"content":[],"x":"\377"}}\n'"#,
        "expected UTF-8",
    ),
    (
        r#"printf '{"jsonrpc":"2.0","id":2,"result":{"content":[],"x":NaN}}\n'"#,
        "expected",
    ),
];

/// A server process that answers `initialize`, and then a call in this way.
fn server(response: &str) -> Result<ChildTransport, TransportError> {
    let agreed = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
    let long = "long=$(head -c 200000 /dev/zero | tr '\\0' x)";
    let text = format!("read line; echo '{agreed}'; read line; read line; {long}; {response}; read line");
    let mut command = Command::new("sh");
    command.args(["-c", &text]);
    let options = SpawnOptions::default()
        .grace(Duration::from_millis(300))
        .limits(LineLimits::default().message_bytes(10_000));
    spawn(command, options).map_err(|error| TransportError::Other(Box::new(error)))
}

#[tokio::test]
async fn a_call_whose_response_cannot_be_read_fails_at_once() {
    for (response, reason) in RESPONSES {
        let mut options: Options = with_handshake();
        options.limits.call_timeout = 2 * PATIENCE;
        let client = Client::new("client", "1.0").options(options);
        let session = client.connect(server(response).expect("sh starts")).await.unwrap();
        let called = timeout(PATIENCE, session.call_tool("t", json!({}))).await;
        let error = called.expect("the call fails in time").unwrap_err();
        assert!(
            matches!(&error, CallError::InvalidResult(found) if found.contains(reason)),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_call_whose_response_is_cut_fails_with_the_exit_of_the_server() {
    let response = r#"printf '{"jsonrpc":"2.0","id":2,"result":{"content":['; exit 3"#;
    let client = Client::new("client", "1.0").options(with_handshake());
    let session = client.connect(server(response).expect("sh starts")).await.unwrap();
    let called = timeout(PATIENCE, session.call_tool("t", json!({}))).await;
    let error = called.expect("the call fails in time").unwrap_err();
    assert!(matches!(error, CallError::Exited(_)), "{error}");
}

#[tokio::test]
async fn a_bridge_answers_a_call_whose_response_cannot_be_read_with_an_error() {
    for (response, reason) in RESPONSES {
        let (clients, client) = channel(16);
        let bridge = Bridge::new(move || server(response), BridgeOptions::default());
        tokio::spawn(async move { bridge.serve(clients).await });
        let (sender, mut receiver) = client.split();
        let begin =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
        let mut answers = Vec::new();
        for (id, method, params) in [(0, "initialize", begin), (1, "tools/call", json!({"name": "t"}))] {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            for message in [Some(request), (id == 0).then_some(initialized)].into_iter().flatten() {
                let (json, purpose) = (message.to_string().into(), Purpose::Unsolicited);
                sender.send(Outgoing { json, purpose }).await.unwrap();
            }
            let answer = timeout(PATIENCE, receiver.receive_outgoing()).await;
            let answer = answer.expect("an answer comes in time").expect("the session continues");
            answers.push(serde_json::from_slice::<Value>(&answer.json).unwrap());
        }
        assert_eq!(answers[1]["id"], 1, "{answers:?}");
        let message = answers[1]["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(reason), "{answers:?}");
    }
}
