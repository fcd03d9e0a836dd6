//! Malformed messages and wrong ids.

use mcp_runtime::transport::stdio::{LineLimits, LineTransport};
use mcp_runtime::{CallError, CallServer, Options, Revision};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex};

use crate::session::raw::{Tools, call, client, code, initialize, of_hub, serve_over, text, tool};

#[tokio::test]
async fn malformed_messages_are_refused_and_the_session_continues() {
    let tools = Tools::new(1);
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = tokio::io::split(ours);
    let limits = LineLimits::default().message_bytes(1000);
    let session = serve_over(&tools, Options::default(), LineTransport::new(reader, writer, limits));
    let (reader, mut writer) = tokio::io::split(theirs);
    let mut lines = BufReader::new(reader).lines();
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
        (good.as_bytes(), None),
    ] {
        writer.write_all(bytes).await.expect("written");
        writer.write_all(b"\n").await.expect("written");
        let line = lines
            .next_line()
            .await
            .expect("readable")
            .expect("the session continues");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(code(&answer), expected, "{answer}");
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
