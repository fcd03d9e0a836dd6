//! Malformed messages and wrong ids.

use mcp_runtime::transport::channel;
use mcp_runtime::transport::stdio::{LineLimits, LineTransport};
use mcp_runtime::{CallError, CallServer, Options, Revision};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex};

use crate::common::{connect_to, with_handshake};
use crate::session::raw::{
    Raw, Tools, call, client, code, initialize, of_hub, request, serve_over, text, tool, unopened,
};

#[tokio::test]
async fn malformed_messages_are_refused_and_the_session_continues() {
    let tools = Tools::new(1);
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = tokio::io::split(ours);
    let limits = LineLimits::default().message_bytes(1000);
    let session = serve_over(&tools, Options::default(), LineTransport::new(reader, writer, limits));
    let (reader, mut writer) = tokio::io::split(theirs);
    let mut lines = BufReader::new(reader).lines();
    let mut exchange = async |bytes: &[u8]| -> Value {
        writer.write_all(bytes).await.expect("written");
        writer.write_all(b"\n").await.expect("written");
        let line = lines.next_line().await.expect("readable");
        serde_json::from_str(&line.expect("the session continues")).expect("JSON")
    };
    let opening = initialize(0, Revision::V2025_11_25, json!({})).to_string();
    let good = call(1, "good").to_string();
    let long = "x".repeat(100_000);
    for (bytes, expected) in [
        (opening.as_bytes(), None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\xfe\"}", Some(-32700)),
        (good.as_bytes(), None),
        (long.as_bytes(), Some(-32600)),
        (good.as_bytes(), None),
        (b"{\"jsonrpc\":", Some(-32700)),
        (b"nonsense", Some(-32700)),
        (b"17", Some(-32600)),
        (b"{}", Some(-32600)),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Some(-32600)),
        (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Some(-32600)),
        (
            br#"{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":5}}"#,
            Some(-32600),
        ),
        (br#"{"jsonrpc":"2.0","id":9,"method":5}"#, Some(-32600)),
        (br#"{"jsonrpc":"2.0","id":9,"method":"tools/call"}"#, Some(-32602)),
        (
            br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":[]}"#,
            Some(-32602),
        ),
        (good.as_bytes(), None),
    ] {
        let answer = exchange(bytes).await;
        assert_eq!(code(&answer), expected, "{answer}");
    }
    // The client waits for these responses.
    for request in [
        format!(r#"{{"method":"tools/call","params":{{"name":"{long}"}},"jsonrpc":"2.0","id":"a"}}"#),
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{]}"#.to_owned(),
    ] {
        let answer = exchange(request.as_bytes()).await;
        assert!(answer["id"] == "a" && code(&answer).is_some(), "{answer}");
    }
    drop((lines, writer));
    session.ended().await;
}

#[tokio::test]
async fn a_response_to_no_request_is_ignored() {
    let tools = Tools::new(1);
    let (_session, mut raw) = of_hub(&tools).await;
    for id in [json!(1), json!("one"), json!(-5), json!(u64::from(u32::MAX))] {
        raw.send(&json!({"jsonrpc": "2.0", "id": id, "result": {}})).await;
        raw.send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": 1, "message": "no"}}))
            .await;
    }
    raw.is_quiet().await;
}

#[tokio::test]
async fn only_the_first_response_to_a_call_counts() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 16).await;
    let peer = session.peer().clone();
    let calling = tokio::spawn(async move { peer.call_tool(tool("any")).await });
    let id = raw.next().await["id"].clone();
    let answer =
        |text: &str| json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}});
    raw.send(&answer("first")).await;
    raw.send(&answer("second")).await;
    let result = calling.await.expect("no panic").expect("a result");
    assert!(serde_json::to_string(&result).expect("JSON").contains("first"));
    raw.is_quiet().await;
}

#[tokio::test]
async fn a_malformed_result_fails_its_call() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 16).await;
    for malformed in [json!({"content": 5}), json!("text"), Value::Null] {
        let peer = session.peer().clone();
        let calling = tokio::spawn(async move { peer.call_tool(tool("any")).await });
        let id = raw.next().await["id"].clone();
        raw.send(&json!({"jsonrpc": "2.0", "id": id, "result": malformed}))
            .await;
        let ended = calling.await.expect("no panic");
        assert!(
            matches!(ended, Err(CallError::InvalidResult(_) | CallError::Peer(_))),
            "{ended:?}"
        );
    }
    raw.is_quiet().await;
}

#[tokio::test]
async fn a_request_with_an_id_in_flight_is_refused_until_that_id_is_answered() {
    let tools = Tools::new(2);
    let (_session, mut raw) = of_hub(&tools).await;
    raw.send(&call(1, "barrier")).await;
    let refused = raw.ask(&call(1, "any")).await;
    assert_eq!((&refused["id"], code(&refused)), (&json!(1), Some(-32600)));
    // The string "1" is a different id than the number 1.
    let answers = [raw.ask(&call("1", "barrier")).await, raw.next().await];
    for answer in &answers {
        assert_eq!(text(answer), Some("done"), "{answer}");
    }
    for _ in 0..100 {
        let answer = raw.ask(&call(1, "any")).await;
        assert_eq!(text(&answer), Some("done"), "{answer}");
    }
}

/// Connects to a server that answers the handshake with this message, except for its id, and returns the error.
async fn handshake_error(mut answer: Value) -> String {
    let (ours, theirs) = channel(16);
    let connecting = tokio::spawn(connect_to(ours, with_handshake()));
    let mut raw = Raw::new(theirs);
    let asked = raw.next().await;
    if answer.get("method").is_none() {
        answer["id"] = asked["id"].clone();
    }
    answer["jsonrpc"] = json!("2.0");
    raw.send(&answer).await;
    let error = connecting.await.expect("no panic").expect_err("it isn't a handshake");
    error.to_string()
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_the_wrong_type_to_the_handshake_is_an_error_that_names_the_place() {
    let welcome = |member: &str, value: Value| {
        let mut result = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "raw", "version": "1"},
        });
        result[member] = value;
        json!({"result": result})
    };
    for (answer, expected) in [
        (json!({"result": "hello"}), "expected an object, found a string"),
        (json!({"result": null}), "expected an object, found null"),
        (json!({"result": [1]}), "expected an object, found an array"),
        (json!({}), "expected a member `method`, `result` or `error`"),
        (json!({"error": "no"}), "`error`: expected an object, found a string"),
        (
            json!({"error": {"code": "x", "message": 1}}),
            "`error.code`: expected an integer, found a string",
        ),
        (
            json!({"result": {}, "error": {"code": -1, "message": "no"}}),
            "expected only one of `method`, `result` and `error`",
        ),
        (
            welcome("protocolVersion", json!(2)),
            "`protocolVersion` is missing or has the wrong type",
        ),
        (
            welcome("capabilities", json!([])),
            "`capabilities`: expected an object, found an array",
        ),
        (
            welcome("capabilities", json!({"tools": true})),
            "`capabilities`: `tools`: expected an object, found a boolean",
        ),
        (
            welcome("serverInfo", json!({"name": "raw", "version": 1})),
            "`serverInfo`: `version`: expected a string, found a number",
        ),
        // These don't answer the request.
        (json!({"method": "notifications/initialized"}), "no answer came within"),
        (
            json!({"method": "initialize", "id": 1, "params": {}}),
            "no answer came within",
        ),
    ] {
        let error = handshake_error(answer.clone()).await;
        assert!(error.contains(expected), "{answer}: {error}");
    }
}

#[tokio::test]
async fn handshake_parameters_of_the_wrong_type_are_refused_with_their_place() {
    let (_session, mut raw) = unopened(&Tools::new(1), with_handshake(), 16);
    for (params, expected) in [
        (json!("hello"), "expected an object, found a string"),
        (json!({"protocolVersion": 1}), "`protocolVersion`"),
        (
            json!({"protocolVersion": "2025-11-25", "capabilities": 1, "clientInfo": {"name": "a", "version": "1"}}),
            "`capabilities`",
        ),
        (
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": "raw"}),
            "`clientInfo`",
        ),
    ] {
        let refused = raw.ask(&request(1, "initialize", params)).await;
        let message = refused["error"]["message"].as_str().expect("it is refused");
        assert!(message.contains(expected), "{refused}");
    }
    let welcome = raw.ask(&initialize(2, Revision::V2025_11_25, json!({}))).await;
    assert!(welcome["result"].is_object(), "{welcome}");
}
