//! Stateless requests, and how a client detects the era of a server.

use std::time::Duration;

use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::transport::{HttpFailure, Sender};
use mcp_runtime::{CallError, ClientSession, ConnectError, Era, Limits, Options, Revision};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::common::connect_to;
pub use crate::common::stateless as revision;
use crate::http_client::server::*;

fn alone(id: i64, method: &str, mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(revision().as_str());
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn call(id: i64, name: &str, arguments: Value) -> Value {
    alone(id, "tools/call", json!({"name": name, "arguments": arguments}))
}

fn listed(id: &Value, tools: Value, next: Option<&str>) -> Value {
    let mut result = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools});
    if let Some(next) = next {
        result["nextCursor"] = json!(next);
    }
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn marked(name: &str, header: &str, ty: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object", "properties": {"a": {"type": ty, "x-mcp-header": header}}}})
}

fn refusal(id: &Value, code: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}})
}

#[tokio::test]
async fn headers_repeat_the_revision_method_and_name_of_a_request_without_a_session() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    for (message, name) in [
        (call(1, "weather", json!({})), Some("weather")),
        (
            call(1, "wetter zürich", json!({})),
            Some("=?base64?d2V0dGVyIHrDvHJpY2g=?="),
        ),
        (alone(1, "prompts/get", json!({"name": " x"})), Some("=?base64?IHg=?=")),
        (alone(1, "resources/read", json!({"uri": "a://b c"})), Some("a://b c")),
        (alone(1, "odd/method", json!({"name": "x"})), None),
    ] {
        client.send(outgoing(&message)).await.expect("it is sent");
        let asked = server.next().await;
        assert_eq!(asked.header("mcp-protocol-version"), Some(revision().as_str()));
        assert_eq!(asked.header("mcp-method"), message["method"].as_str());
        assert_eq!((asked.header("mcp-name"), asked.header("mcp-session-id")), (name, None));
        assert!(
            asked
                .header("accept")
                .is_some_and(|accept| accept.contains("text/event-stream"))
        );
        asked.json(200, "mcp-session-id: ignored\r\n", &result(1)).await;
        assert_eq!(self::message(&mut receiver).await, result(1));
    }
    client.close().await;
    let more = timeout(Duration::from_millis(100), server.0.accept()).await;
    assert!(more.is_err(), "there is no session to end");
}

#[tokio::test]
async fn arguments_are_repeated_in_headers_as_tools_declare_and_invalid_tools_left_out() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    client
        .send(outgoing(&alone(1, "tools/list", json!({}))))
        .await
        .expect("it is sent");
    let right = [marked("right", "Mark", "string"), marked("count", "Count", "integer")];
    let all = json!([
        marked("wrong", "Mark", "number"),
        right[0],
        marked("odd", "A B", "string"),
        right[1]
    ]);
    server.next().await.json(200, "", &listed(&json!(1), all, None)).await;
    let shown = message(&mut receiver).await;
    assert_eq!(shown, listed(&json!(1), json!(right), None));
    for (name, argument, header, value) in [
        (
            "right",
            json!("Zürich"),
            "mcp-param-mark",
            Some("=?base64?WsO8cmljaA==?="),
        ),
        ("right", json!("a b"), "mcp-param-mark", Some("a b")),
        ("right", json!(null), "mcp-param-mark", None),
        ("count", json!(42.0), "mcp-param-count", Some("42")),
        ("count", json!(1_i64 << 60), "mcp-param-count", None),
        ("wrong", json!(1), "mcp-param-mark", None),
    ] {
        let call = call(2, name, json!({"a": argument}));
        client.send(outgoing(&call)).await.expect("it is sent");
        let asked = server.next().await;
        assert_eq!(asked.header(header), value, "{call}");
        assert_eq!(asked.body, call);
        asked.json(200, "", &result(2)).await;
        message(&mut receiver).await;
    }
}

#[tokio::test]
async fn a_call_refused_for_its_headers_is_repeated_once_after_listing_the_tools() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    let mut message = call(1, "tool", json!({"a": "x"}));
    message["params"]["_meta"]["progressToken"] = json!(1);
    client.send(outgoing(&message)).await.expect("it is sent");
    let asked = server.next().await;
    assert_eq!(asked.header("mcp-param-a"), None, "the tool isn't known yet");
    asked.json(400, "", &refusal(&json!(1), -32020)).await;
    let mut cursor = Value::Null;
    for (tools, next) in [(json!([]), Some("2")), (json!([marked("tool", "A", "string")]), None)] {
        let lists = server.next().await;
        assert_eq!(lists.header("mcp-method"), Some("tools/list"));
        assert_eq!(lists.body["params"]["cursor"], cursor);
        assert_eq!(
            lists.body["params"]["_meta"].as_object().map(|meta| meta.len()),
            Some(2)
        );
        let answer = listed(&lists.body["id"], tools, next);
        lists.json(200, "", &answer).await;
        cursor = json!(next);
    }
    let again = server.next().await;
    assert_eq!((again.header("mcp-param-a"), &again.body), (Some("x"), &message));
    again.json(400, "", &refusal(&json!(1), -32020)).await;
    let failed = failure(&mut receiver, 1).await;
    assert_eq!(failed.response.map(|response| response.error.code), Some(-32020));
    assert!(timeout(Duration::from_millis(100), server.0.accept()).await.is_err());
}

#[tokio::test]
async fn cancelling_closes_the_stream_and_a_cut_stream_is_not_resumed() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    client
        .send(outgoing(&call(1, "tool", json!({}))))
        .await
        .expect("it is sent");
    let mut asked = server.next().await;
    asked.say(&format!("{STREAM}id: 1\ndata: {}\n\n", progress(1))).await;
    assert_eq!(message(&mut receiver).await, progress(1));
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    client.send(outgoing(&cancelled)).await.expect("it is cancelled");
    asked.left().await;

    client
        .send(outgoing(&call(2, "tool", json!({}))))
        .await
        .expect("it is sent");
    let mut asked = server.next().await;
    asked.say(&format!("{STREAM}id: 1\ndata: {}\n\n", progress(2))).await;
    assert_eq!(message(&mut receiver).await, progress(2));
    drop(asked);
    assert!(matches!(error(&mut receiver, 2).await, CallError::Cut(_)));
    assert!(timeout(Duration::from_millis(200), server.0.accept()).await.is_err());
}

#[tokio::test]
async fn a_404_with_method_not_found_does_not_end_the_session() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    server.begin(&client, &mut receiver).await.status(405).await;
    client.send(request(1, "odd/method")).await.expect("it is sent");
    server.next().await.json(404, "", &refusal(&json!(1), -32601)).await;
    let failed = failure(&mut receiver, 1).await;
    assert_eq!(failed.response.map(|response| response.error.code), Some(-32601));
    client.send(request(2, "tools/call")).await.expect("it is sent");
    let asked = server.next().await;
    assert_eq!(
        (&asked.body["id"], asked.header("mcp-session-id")),
        (&json!(2), Some("s-1"))
    );
}

fn connecting(server: &Server, probe: Duration) -> JoinHandle<Result<ClientSession, ConnectError>> {
    let transport = HttpClient::new(&server.url(), HttpOptions::default()).expect("the address is one");
    let options = Options {
        supported: Revision::ALL.to_vec(),
        limits: Limits {
            probe_timeout: probe,
            ..Limits::default()
        },
        ..Options::default()
    };
    tokio::spawn(connect_to(transport, options))
}

async fn connected(connecting: JoinHandle<Result<ClientSession, ConnectError>>) -> Result<ClientSession, ConnectError> {
    let connected = timeout(PATIENCE, connecting).await.expect("it doesn't hang");
    connected.expect("no panic")
}

/// The client's first request, which discovers the server.
async fn probed(server: &Server) -> Asked {
    let probe = server.next().await;
    assert_eq!(probe.header("mcp-method"), Some("server/discover"));
    probe
}

pub fn discovered(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        "supportedVersions": [revision().as_str()], "capabilities": {"tools": {}},
    }})
}

/// Answers the handshake, which must come next.
async fn shake_hands(server: &Server) {
    let asked = server.next().await;
    assert_eq!(asked.body["method"], "initialize", "{}", asked.head);
    let version = asked.body["params"]["protocolVersion"].clone();
    let result = json!({
        "protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "legacy", "version": "1"},
    });
    let answer = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result});
    asked.json(200, "mcp-session-id: s\r\n", &answer).await;
    let initialized = server.next().await;
    assert_eq!(initialized.header("mcp-session-id"), Some("s"));
    initialized.accept().await;
    server.next().await.status(405).await;
}

#[tokio::test]
async fn a_server_that_answers_discovery_gets_no_handshake() {
    let server = Server::start().await;
    let connecting = connecting(&server, PATIENCE);
    let probe = probed(&server).await;
    let answer = discovered(&probe.body["id"]);
    probe.json(200, "", &answer).await;
    let session = connected(connecting).await.expect("there is a session");
    assert_eq!(
        (session.peer().era(), session.peer().revision()),
        (Some(Era::Stateless), Some(revision()))
    );
}

#[tokio::test]
async fn stateless_error_codes_prevent_a_handshake_unless_they_list_a_common_revision() {
    for code in [-32020, -32021] {
        let server = Server::start().await;
        let connecting = connecting(&server, PATIENCE);
        let probe = probed(&server).await;
        let answer = refusal(&probe.body["id"], code);
        probe.json(400, "", &answer).await;
        match connected(connecting).await {
            Err(ConnectError::Call(error)) => assert_eq!(error.error_object().map(|error| error.code), Some(code)),
            other => panic!("{other:?}"),
        }
    }

    // The server supports other revisions: one in common with the client, or none.
    for (versions, is_common) in [
        (json!(["1999-01-01", Revision::V2025_11_25.as_str()]), true),
        (json!(["1999-01-01"]), false),
    ] {
        let server = Server::start().await;
        let connecting = connecting(&server, PATIENCE);
        let probe = probed(&server).await;
        let mut answer = refusal(&probe.body["id"], -32022);
        answer["error"]["data"] = json!({"supported": versions, "requested": revision().as_str()});
        probe.json(400, "", &answer).await;
        if is_common {
            shake_hands(&server).await;
        }
        assert_eq!(connected(connecting).await.is_ok(), is_common);
    }
}

#[tokio::test]
async fn any_other_refusal_of_discovery_leads_to_a_handshake() {
    for (status, body) in [
        (400, None),
        (400, Some(-32000)),
        (400, Some(-32600)),
        (400, Some(-32602)),
        (400, Some(-32601)),
        (404, Some(-32000)),
        // A stateless server must implement discovery.
        (404, Some(-32601)),
        (405, None),
        (404, None),
        (406, None),
        (415, Some(-32600)),
        (422, None),
        (200, Some(-32601)),
        (200, Some(-32602)),
    ] {
        let server = Server::start().await;
        let connecting = connecting(&server, PATIENCE);
        let probe = probed(&server).await;
        match body {
            Some(code) => {
                let answer = refusal(&probe.body["id"], code);
                probe.json(status, "", &answer).await;
            }
            None => probe.status(status).await,
        }
        shake_hands(&server).await;
        let session = connected(connecting).await.expect("there is a session");
        assert_eq!(session.peer().era(), Some(Era::Handshake), "{status} {body:?}");
    }
}

#[tokio::test]
async fn a_success_without_a_valid_message_leads_to_a_handshake() {
    let whole = |media_type: &str, body: &str| {
        let length = body.len();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\n");
        format!("{head}connection: close\r\n\r\n{body}")
    };
    for answer in [
        whole("text/html", "<html>It works!</html>"),
        whole("application/json", r#"{"status":"ok"}"#),
        whole("application/json", "It works!"),
        whole("application/json", ""),
        whole(
            "application/json",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#,
        ),
        "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
        // Event streams without an event.
        STREAM.to_owned(),
        format!("{STREAM}: hello\n\n"),
        // Responses whose connection is closed before the body is complete.
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 80\r\n\r\n{".to_owned(),
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_owned(),
    ] {
        let server = Server::start().await;
        let connecting = connecting(&server, PATIENCE);
        probed(&server).await.say(&answer).await;
        shake_hands(&server).await;
        let session = connected(connecting).await.expect("there is a session");
        assert_eq!(session.peer().era(), Some(Era::Handshake), "{answer}");
    }
}

#[tokio::test]
async fn discovery_that_times_out_is_dropped_and_leads_to_a_handshake() {
    let server = Server::start().await;
    let connecting = connecting(&server, Duration::from_millis(100));
    let probe = probed(&server).await;
    shake_hands(&server).await;
    probe.left().await;
    assert!(connected(connecting).await.is_ok());
}

#[tokio::test]
async fn http_with_sse_is_tried_after_discovery_and_handshake_are_refused() {
    let server = Server::start().await;
    let connecting = connecting(&server, PATIENCE);
    probed(&server).await.status(405).await;
    let asked = server.next().await;
    assert_eq!(asked.body["method"], "initialize");
    asked.status(405).await;
    let mut stream = server.next().await;
    assert!(stream.head.starts_with("GET "));
    stream
        .say(&format!("{STREAM}event: endpoint\ndata: /messages\n\n"))
        .await;
    let posted = server.next().await;
    assert!(posted.head.starts_with("POST /messages "), "{}", posted.head);
    let version = posted.body["params"]["protocolVersion"].clone();
    let info = json!({"name": "legacy", "version": "1"});
    let result = json!({"protocolVersion": version, "capabilities": {}, "serverInfo": info});
    let answer = json!({"jsonrpc": "2.0", "id": posted.body["id"], "result": result});
    posted.accept().await;
    stream.say(&format!("event: message\ndata: {answer}\n\n")).await;
    server.next().await.accept().await;
    assert!(connected(connecting).await.is_ok());
}

#[tokio::test]
async fn http_failures_unrelated_to_the_era_fail_the_connection() {
    for status in [401, 403, 407, 429, 500, 502, 503, 504] {
        let server = Server::start().await;
        let connecting = connecting(&server, PATIENCE);
        probed(&server).await.status(status).await;
        match connected(connecting).await {
            Err(ConnectError::Call(CallError::Http(failure))) => {
                let HttpFailure { status: told, .. } = *failure;
                assert_eq!(told.as_u16(), status);
            }
            other => panic!("{status}: {other:?}"),
        }
        assert!(timeout(Duration::from_millis(50), server.0.accept()).await.is_err());
    }
}
