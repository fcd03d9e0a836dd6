//! Accepted and refused requests.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_adapters::Revision;
use mcp_runtime::router::Call;
use mcp_runtime::transport::http::server::HttpServer;
use mcp_runtime::{CallError, Router};
use serde_json::{Value, json};

use crate::http_server::client::*;
use crate::http_server::engine::Seen;

#[tokio::test]
async fn malformed_bodies_and_unsupported_media_types_and_methods_are_refused() {
    let server = serve(|server| server.max_body(1000)).await;
    let session = server.begin(hub()).await;
    let json_type = ("content-type", "application/json");
    let id = ("mcp-session-id", session.as_str());
    for (body, code) in [
        (&b"{"[..], -32700),
        (b"", -32700),
        (b"{\"a\": \"\xff\"}", -32700),
        (b"1", -32600),
        (b"{}", -32600),
        (b"[]", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", -32600),
        (
            b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}]",
            -32600,
        ),
    ] {
        let mut answer = server
            .send("POST", "/mcp", &[("accept", BOTH), json_type, id], body)
            .await;
        assert_eq!(answer.status, 400, "{body:?}");
        let error = answer.json().await;
        assert_eq!(error["error"]["code"], code, "{body:?}");
        assert_eq!(error.get("id"), None);
    }
    for body in [
        &b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}"[..],
        b"{\"id\":1,\"method\":\"initialize\"}",
    ] {
        let headers = [("accept", BOTH), json_type, id];
        let mut answer = server.send("POST", "/mcp", &headers, body).await;
        assert_eq!(answer.status, 400, "{body:?}");
        let error = answer.json().await;
        assert_eq!((&error["id"], &error["error"]["code"]), (&json!(1), &json!(-32600)));
    }
    let long = request(1, "echo", json!({"text": "x".repeat(2000)}));
    assert_eq!(server.post(&session, long).await.status, 413);
    let ping = request(1, "ping", json!({})).to_string();
    for accept in ["text/plain", "image/*", "application/json;q=0, text/event-stream;q=0"] {
        let answer = server
            .send("POST", "/mcp", &[("accept", accept), json_type, id], ping.as_bytes())
            .await;
        assert_eq!(answer.status, 406, "{accept}");
    }
    assert_eq!(
        server
            .send("POST", "/mcp", &[json_type, id], ping.as_bytes())
            .await
            .status,
        406
    );
    for (accept, content_type) in [
        ("*/*", "application/json; charset=utf-8"),
        ("text/*,application/*", "Application/JSON"),
    ] {
        let plain = ("content-encoding", "identity");
        let headers = [("accept", accept), ("content-type", content_type), plain, id];
        assert_eq!(
            server.send("POST", "/mcp", &headers, ping.as_bytes()).await.status,
            200,
            "{accept}"
        );
    }
    for headers in [
        &[("accept", BOTH), ("content-type", "text/plain"), id][..],
        &[("accept", BOTH), id],
        &[("accept", BOTH), json_type, ("content-encoding", "gzip"), id],
    ] {
        assert_eq!(server.send("POST", "/mcp", headers, ping.as_bytes()).await.status, 415);
    }
    assert_eq!(
        server
            .send("GET", "/mcp", &[("accept", "application/json"), id], b"")
            .await
            .status,
        406
    );
    for method in ["PUT", "PATCH", "HEAD"] {
        let answer = server.send(method, "/mcp", &[id], b"").await;
        assert_eq!(answer.status, 405);
        assert_eq!(answer.header("allow"), Some("GET, POST, DELETE"));
    }
}

#[tokio::test]
async fn the_host_of_an_absolute_request_target_must_be_allowed_too() {
    let server = serve(|server| server.allow_host("tools.example")).await;
    for (authority, host, status) in [
        ("evil.example", "localhost", 403),
        ("localhost@evil.example", "localhost", 403),
        ("localhost", "evil.example", 403),
        ("localhost", "localhost:+80", 403),
        ("localhost", "localhost", 200),
        ("tools.example:80", "tools.example:80", 200),
    ] {
        let target = format!("http://{authority}/mcp");
        let headers = [("host", host), ("accept", BOTH), ("content-type", "application/json")];
        let body = initialize(hub()).to_string();
        let answer = server.send("POST", &target, &headers, body.as_bytes()).await;
        assert_eq!(answer.status, status, "{target} at {host}");
    }
}

#[tokio::test]
async fn origins_and_hosts_that_are_not_allowed_are_refused() {
    let server = serve(|server| server.allow_host("tools.example").allow_origin("https://app.example")).await;
    for (name, value, status) in [
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("origin", "http://localhost.evil.example", 403),
        ("origin", "http://localhost:3000", 200),
        ("origin", "https://app.example", 200),
        ("host", "evil.example", 403),
        ("host", "localhost.evil.example:80", 403),
        ("host", "localhost:1234", 200),
        ("host", "[::1]:80", 200),
        ("host", "tools.example", 200),
    ] {
        let answer = server.post_with(&[(name, value)], &initialize(hub())).await;
        assert_eq!(answer.status, status, "{name}: {value}");
        let stream = server.send("GET", "/sse", &[EVENTS, (name, value)], b"").await;
        assert_eq!(stream.status, status, "{name}: {value}");
    }
}

#[tokio::test]
async fn the_revision_in_the_header_must_be_supported() {
    let server = serve(|server| server).await;
    let ping = request(1, "ping", json!({}));
    let named = server.begin(hub()).await;
    for (version, status) in [(hub(), 200), ("1999-01-01", 400), ("", 400)] {
        let headers = [("mcp-session-id", named.as_str()), ("mcp-protocol-version", version)];
        assert_eq!(server.post_with(&headers, &ping).await.status, status, "{version}");
    }
    assert_eq!(
        server.post(&named, ping.clone()).await.status,
        200,
        "a session knows its revision"
    );
    // A session of a revision without this header ignores it.
    let silent = server
        .begin(with(|revision| {
            revision.facts().version_header.is_none() && revision.facts().session_header.is_some()
        }))
        .await;
    let headers = [
        ("mcp-session-id", silent.as_str()),
        ("mcp-protocol-version", "1999-01-01"),
    ];
    assert_eq!(server.post_with(&headers, &ping).await.status, 200);

    // A client of an unknown revision is told which ones are supported.
    let later = [("mcp-protocol-version", "2999-01-01")];
    let mut answer = server.post_with(&later, &ping).await;
    assert_eq!(answer.status, 400);
    let why = answer.whole().await;
    assert!(why.contains("Unsupported protocol version; supported are "), "{why}");

    let only_hub = serve(|server| server.revisions([Revision::V2025_11_25])).await;
    let session = only_hub.begin(hub()).await;
    let headers = [
        ("mcp-session-id", session.as_str()),
        ("mcp-protocol-version", batching()),
    ];
    assert_eq!(only_hub.post_with(&headers, &ping).await.status, 400);
}

#[tokio::test]
async fn batches_are_accepted_only_if_the_revision_has_them() {
    let server = serve(|server| server).await;
    let batch = json!([
        request(1, "echo", json!({"a": 1})),
        {"jsonrpc": "2.0", "method": "note"},
        request(2, "echo", json!({"b": 2})),
    ]);
    let session = server.begin(batching()).await;
    let events = server.post(&session, batch.clone()).await.messages().await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0][1]["result"], json!({"b": 2}));
    let notes = json!([{"jsonrpc": "2.0", "method": "note"}]);
    assert_eq!(server.post(&session, notes).await.status, 202);
    let twice = json!([request(1, "ping", json!({})), request(1, "ping", json!({}))]);
    assert_eq!(server.post(&session, twice).await.status, 400);
    assert_eq!(
        server.post_with(&[], &json!([initialize(batching())])).await.status,
        400
    );
    let other = server.begin(hub()).await;
    assert_eq!(server.post(&other, batch).await.status, 400);
}

#[tokio::test]
async fn an_id_in_flight_cannot_be_used_again() {
    let server = serve(|server| server).await;
    let session = server.begin(hub()).await;
    let mut waiting = server.post(&session, request(1, "wait", json!({"ms": 500}))).await;
    assert_eq!(server.post(&session, request(1, "ping", json!({}))).await.status, 400);
    assert_eq!(waiting.messages().await.len(), 1);
    assert_eq!(server.post(&session, request(1, "ping", json!({}))).await.status, 200);
}

#[tokio::test]
async fn a_cancelled_request_ends_without_a_response_once_the_engine_gives_it_up() {
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let streaming = serve(|server| server.stream_after(Duration::ZERO)).await;
    let session = streaming.begin(hub()).await;
    let mut stream = streaming.post(&session, request(1, "never", json!({}))).await;
    assert_eq!(streaming.post(&session, cancel.clone()).await.status, 202);
    assert!(stream.events().await.is_empty());
    assert_eq!(
        streaming.post(&session, request(1, "ping", json!({}))).await.status,
        200
    );

    let server = serve(|server| server.json_only(true)).await;
    let session = server.begin(hub()).await;
    let never = server.post(&session, request(1, "never", json!({})));
    let cancelled = async {
        until("it is in flight", || server.seen.taken.load(Ordering::SeqCst) == 2).await;
        server.post(&session, cancel).await
    };
    let (mut never, cancelled) = tokio::join!(never, cancelled);
    assert_eq!((cancelled.status, never.status), (202, 202));
    assert_eq!(never.whole().await, "");
    assert_eq!(server.post(&session, request(1, "ping", json!({}))).await.status, 200);
}

#[tokio::test]
async fn json_only_responses_leave_notifications_to_the_stream_of_the_session() {
    let server = serve(|server| server.json_only(true)).await;
    let headers = [("accept", "application/json"), ("content-type", "application/json")];
    let body = initialize(batching()).to_string();
    let mut first = server.send("POST", "/mcp", &headers, body.as_bytes()).await;
    assert_eq!(first.header("content-type"), Some("application/json"));
    assert_eq!(first.json().await["result"]["protocolVersion"], batching());
    let session = first.session();
    let mut listening = server.listen(&session, None).await;
    let mut answer = server.post(&session, request(1, "count", json!({"count": 2}))).await;
    assert_eq!(answer.json().await["id"], 1);
    assert_eq!(
        numbers(&[listening.event().await.unwrap().1]),
        [0],
        "notifications of the request come on the session's stream"
    );
    let batch = json!([request(1, "echo", json!(1)), request(2, "echo", json!(2))]);
    let answers = server.post(&session, batch).await.json().await;
    assert_eq!((&answers[0]["result"], &answers[1]["result"]), (&json!(1), &json!(2)));
}

#[tokio::test]
async fn a_server_without_sessions_handles_each_request_independently() {
    let server = serve(|server| server.stateless(true)).await;
    let mut first = server.post_with(&[], &initialize(hub())).await;
    assert_eq!(first.header("mcp-session-id"), None);
    assert_eq!(first.json().await["result"]["protocolVersion"], hub());
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(server.post_with(&[], &note).await.status, 202);
    let echo = request(7, "echo", json!({"a": 1}));
    let headers = [("mcp-protocol-version", hub())];
    assert_eq!(
        server.post_with(&headers, &echo).await.json().await["result"],
        json!({"a": 1})
    );
    assert_eq!(
        server.post_with(&[("mcp-protocol-version", "x")], &echo).await.status,
        400
    );
    // Without the version header, the revision with batches applies.
    let batch = json!([request(1, "echo", json!(1))]);
    assert_eq!(server.post_with(&[], &batch).await.json().await[0]["result"], 1);
    assert_eq!(server.post_with(&headers, &batch).await.status, 400);
    for method in ["GET", "DELETE"] {
        let answer = server.send(method, "/mcp", &[("accept", BOTH)], b"").await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
    }
    until("every engine ends", || {
        server.seen.started.load(Ordering::SeqCst) == server.seen.ended.load(Ordering::SeqCst)
    })
    .await;
}

#[tokio::test]
async fn a_server_without_sessions_reports_that_it_cannot_ask_the_client() {
    async fn roots(call: Call) -> Result<String, CallError> {
        Ok(format!("{} roots", call.roots().await?.len()))
    }
    async fn custom(call: Call) -> Result<String, CallError> {
        let answer: Value = call.peer().call_method("x/ask", json!({})).await?;
        Ok(answer.to_string())
    }
    let router = Router::new("asks", "1.0").tool("roots", "Asks for roots", roots).tool(
        "custom",
        "Sends a custom request",
        custom,
    );
    let server = serve_app(HttpServer::new(router).stateless(true), Seen::default(), |serve| serve).await;
    let headers = [("mcp-protocol-version", hub())];
    for (tool, method) in [("roots", "roots/list"), ("custom", "x/ask")] {
        let call = request(1, "tools/call", json!({"name": tool, "arguments": {}}));
        let mut answer = server.post_with(&headers, &call).await;
        let answer = answer.json().await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let expected = format!(
            "{method} can't be sent: the server has no session with this client, and can only respond to its requests"
        );
        assert_eq!(answer["result"]["content"][0]["text"], expected);
    }
}

#[tokio::test]
async fn http_with_sse_sends_responses_on_its_stream() {
    let server = serve(|server| server).await;
    let mut stream = server
        .send("GET", "/sse", &[("accept", "text/event-stream")], b"")
        .await;
    assert_eq!(stream.status, 200);
    while !stream.body.ends_with(b"\n\n") {
        stream.read().await;
    }
    assert!(stream.body.starts_with(b"event: endpoint\ndata: /messages?sessionId="));
    let (_, endpoint) = stream.event().await.unwrap();
    let endpoint = endpoint.as_str().unwrap().to_owned();
    let json_type = [("content-type", "application/json")];
    for message in [
        initialize(Revision::ALL[0].as_str()),
        request(1, "count", json!({"count": 2})),
    ] {
        let answer = server
            .send("POST", &endpoint, &json_type, message.to_string().as_bytes())
            .await;
        assert_eq!(answer.status, 202);
    }
    let mut events = Vec::new();
    for _ in 0..4 {
        events.push(stream.event().await.unwrap().1);
    }
    assert_eq!(events[0]["id"], 0);
    assert_eq!(numbers(&events), [0, 1]);
    assert_eq!(events[3]["id"], 1);
    let ping = request(2, "ping", json!({})).to_string();
    assert_eq!(
        server
            .send("POST", "/messages?sessionId=x", &json_type, ping.as_bytes())
            .await
            .status,
        404
    );
    assert_eq!(
        server
            .send("POST", "/messages", &json_type, ping.as_bytes())
            .await
            .status,
        400
    );
    assert_eq!(server.send("POST", &endpoint, &json_type, b"{").await.status, 400);
    assert_eq!(server.send("POST", "/sse", &json_type, b"{}").await.status, 405);
    // The two transports don't share sessions.
    let id = endpoint.rsplit('=').next().unwrap();
    assert_eq!(server.post(id, request(2, "ping", json!({}))).await.status, 404);
    drop(stream);
    until("the session ends with its connection", || {
        server.seen.ended.load(Ordering::SeqCst) == 1
    })
    .await;
    assert_eq!(
        server.send("POST", &endpoint, &json_type, ping.as_bytes()).await.status,
        404
    );
}

#[tokio::test]
async fn the_paths_of_http_with_sse_can_be_changed() {
    let server = serve(|server| server.legacy_paths("/events", "/calls")).await;
    let mut stream = server.send("GET", "/events", &[EVENTS], b"").await;
    let (_, endpoint) = stream.event().await.unwrap();
    let endpoint = endpoint.as_str().unwrap();
    assert!(endpoint.starts_with("/calls?sessionId="), "{endpoint}");
    let json_type = [("content-type", "application/json")];
    let message = initialize(Revision::ALL[0].as_str()).to_string();
    let answer = server.send("POST", endpoint, &json_type, message.as_bytes()).await;
    assert_eq!(answer.status, 202);
    assert_eq!(stream.event().await.unwrap().1["id"], 0);
    assert_eq!(server.send("GET", "/sse", &[EVENTS], b"").await.status, 404);
}

#[tokio::test]
async fn a_refusal_has_the_id_of_the_refused_request() {
    let server = serve(|server| server.max_in_flight(1).stream_after(Duration::ZERO)).await;
    let session = server.begin(hub()).await;
    let id = ("mcp-session-id", session.as_str());
    let ping = json!({"jsonrpc": "2.0", "id": "seven", "method": "ping"});
    let body = ping.to_string();
    let both = ("accept", BOTH);
    let unknown = ("mcp-protocol-version", "1999-01-01");
    let batch = format!("[{body}]");
    let no_name = r#"{"jsonrpc":"2.0","id":"seven","method":5}"#;
    let nothing = r#"{"jsonrpc":"2.0","id":"seven"}"#;
    for (status, headers, body) in [
        (400, &[both][..], body.as_str()),
        (400, &[both, id, unknown], &body),
        (400, &[both, id], &batch),
        (400, &[both, id], no_name),
        (400, &[both, id], nothing),
        (404, &[both, ("mcp-session-id", "unknown")], &body),
        (406, &[("accept", "text/plain"), id], &body),
    ] {
        let headers = [headers, &[("content-type", "application/json")]].concat();
        let mut answer = server.send("POST", "/mcp", &headers, body.as_bytes()).await;
        assert_eq!(answer.status, status, "{headers:?} {body}");
        let error = answer.json().await;
        assert_eq!(error["id"], "seven", "{headers:?} {body}");
        assert!(!error["error"]["message"].as_str().unwrap().is_empty());
    }
    let _in_flight = server.post(&session, request(1, "never", json!({}))).await;
    let mut answer = server.post(&session, ping).await;
    assert_eq!((answer.status, &answer.json().await["id"]), (503, &json!("seven")));
    let headers = [("content-type", "application/json")];
    let mut answer = server
        .send("POST", "/messages?sessionId=x", &headers, body.as_bytes())
        .await;
    assert_eq!((answer.status, &answer.json().await["id"]), (404, &json!("seven")));
    // A batch of several requests has no single id, and a response isn't a request.
    let two = json!([request(1, "ping", json!({})), request(2, "ping", json!({}))]);
    let response = json!({"jsonrpc": "2.0", "id": 5, "result": {}});
    for body in [two, response] {
        let mut answer = server.post("unknown", body).await;
        assert_eq!((answer.status, answer.json().await.get("id")), (404, None));
    }
}

#[tokio::test]
async fn empty_bodies_are_reported_as_empty() {
    let server = serve(|server| server).await;
    for body in ["", " \r\n"] {
        let headers = [("accept", BOTH), ("content-type", "application/json")];
        let mut answer = server.send("POST", "/mcp", &headers, body.as_bytes()).await;
        assert_eq!(answer.status, 400);
        let error = &answer.json().await["error"];
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!(-32700), &json!("Parse error: the body is empty"))
        );
    }
}
