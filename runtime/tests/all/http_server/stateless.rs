//! Stateless requests, to servers with sessions and to servers without.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use mcp_runtime::mcp_wire::UnknownMethod;
use mcp_runtime::router::{Call, tool_with_schema};
use mcp_runtime::transport::http::server::HttpServer;
use mcp_runtime::{Options, Revision, Router, hub};
use serde_json::{Value, json};
use tokio::task;

use crate::http_server::client::*;
use crate::http_server::engine::Seen;

pub fn stateless() -> &'static str {
    with(|revision| !revision.facts().initializes)
}

fn modern_only() -> Vec<Revision> {
    let revisions = Revision::ALL.into_iter();
    revisions.filter(|revision| !revision.facts().initializes).collect()
}

/// Counts the calls that are dropped before they return.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn tools(dropped: &Arc<AtomicUsize>) -> Router {
    let marked = hub::Tool::new(
        "marked",
        json!({"type": "object", "properties": {
            "text": {"type": "string", "x-mcp-header": "Text"}, "count": {"type": "integer", "x-mcp-header": "Count"},
        }}),
    );
    let marked = tool_with_schema(marked, || "called").expect("the schema is one");
    let dropped = Arc::clone(dropped);
    Router::new("tools", "1.0")
        .with(marked)
        .tool("steps", "Tells of two steps", |call: Call| async move {
            for step in [1.0, 2.0] {
                call.progress(step, None, None)
                    .await
                    .map_err(|error| error.to_string())?;
            }
            Ok::<_, String>("done")
        })
        .tool("never", "Never ends", move || {
            let dropped = Dropped(Arc::clone(&dropped));
            async move {
                let _dropped = dropped;
                std::future::pending::<&str>().await
            }
        })
        .tool("asks", "Asks the client", |call: Call| async move {
            let asked = call.peer().call_unknown(UnknownMethod::new("odd/question")).await;
            asked.map_or_else(|error| error.to_string(), |_| "answered".to_owned())
        })
}

struct Modern {
    server: TestServer,
    dropped: Arc<AtomicUsize>,
}

async fn serve_tools(config: impl FnOnce(HttpServer) -> HttpServer, revisions: Vec<Revision>) -> Modern {
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&dropped);
    let options = Options {
        supported: revisions.clone(),
        ..Options::default()
    };
    let app = HttpServer::with_options(tools(&count), options);
    let server = serve_app(config(app.revisions(revisions)), Seen::default(), |serve| serve).await;
    Modern { server, dropped }
}

async fn both() -> Modern {
    serve_tools(|server| server, Revision::ALL.to_vec()).await
}

pub fn alone(id: i64, method: &str, mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(stateless());
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    request(id, method, params)
}

impl Modern {
    /// Posts a message with the headers that repeat its revision, method and name, and with `more` headers.
    async fn post(&self, message: &Value, more: &[(&str, &str)]) -> Answer {
        let method = message["method"].as_str().unwrap_or_default();
        let name = message["params"]["name"].as_str();
        let mut headers = vec![("mcp-protocol-version", stateless()), ("mcp-method", method)];
        headers.extend(name.map(|name| ("mcp-name", name)));
        headers.extend_from_slice(more);
        self.server.post_with(&headers, message).await
    }

    async fn call(&self, name: &str, arguments: Value, more: &[(&str, &str)]) -> Answer {
        let message = alone(7, "tools/call", json!({"name": name, "arguments": arguments}));
        self.post(&message, more).await
    }
}

async fn refused(mut answer: Answer, status: u16, code: i64) -> Value {
    let error = answer.json().await;
    assert_eq!(
        (answer.status, &error["error"]["code"]),
        (status, &json!(code)),
        "{error}"
    );
    error
}

#[tokio::test]
async fn a_stateless_request_ignores_session_headers_and_starts_no_session() {
    let modern = both().await;
    let message = alone(1, "server/discover", json!({}));
    let ignored = [("mcp-session-id", "nobody"), ("last-event-id", "1-2-3")];
    let mut answer = modern.post(&message, &ignored).await;
    assert_eq!((answer.status, answer.header("mcp-session-id")), (200, None));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let discovered = answer.json().await;
    let versions = discovered["result"]["supportedVersions"].as_array().expect("versions");
    assert!(versions.contains(&json!(stateless())), "{discovered}");
    let mut answer = modern.call("marked", json!({}), &[]).await;
    assert_eq!(answer.json().await["result"]["content"][0]["text"], "called");
}

#[tokio::test]
async fn both_eras_share_an_endpoint() {
    let modern = both().await;
    let handshakes = Revision::ALL
        .into_iter()
        .filter(|revision| revision.facts().session_header.is_some());
    for revision in handshakes {
        let opening = json!({
            "protocolVersion": revision.as_str(), "capabilities": {}, "clientInfo": {"name": "legacy", "version": "1"},
        });
        let mut answer = modern.server.post_with(&[], &request(0, "initialize", opening)).await;
        let session = answer.session();
        assert_eq!(answer.json().await["result"]["protocolVersion"], revision.as_str());
        let headers = [
            ("mcp-session-id", session.as_str()),
            ("mcp-protocol-version", revision.as_str()),
        ];
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(modern.server.post_with(&headers, &initialized).await.status, 202);
        let answer = modern
            .call("marked", json!({}), &[("mcp-session-id", session.as_str())])
            .await;
        assert_eq!((answer.status, answer.header("mcp-session-id")), (200, None));
        let call = request(1, "tools/call", json!({"name": "marked", "arguments": {}}));
        let mut answer = modern.server.post_with(&headers, &call).await;
        assert_eq!(answer.messages().await[0]["result"]["content"][0]["text"], "called");
        assert_eq!(modern.server.listen(&session, None).await.status, 200);
    }
}

#[tokio::test]
async fn requests_whose_headers_do_not_match_the_body_are_refused() {
    let modern = both().await;
    let call = alone(3, "tools/call", json!({"name": "zürich", "arguments": {}}));
    let (version, method) = (("mcp-protocol-version", stateless()), ("mcp-method", "tools/call"));
    let encoded = ("mcp-name", "=?base64?esO8cmljaA==?=");
    for headers in [
        &[method, encoded][..],
        &[version, encoded],
        &[version, method],
        &[("mcp-protocol-version", hub()), method, encoded],
        &[version, ("mcp-method", "tools/list"), encoded],
        &[version, ("mcp-method", "TOOLS/CALL"), encoded],
        &[version, method, ("mcp-name", "other")],
        &[version, method, ("mcp-name", "=?base64?esO8cmljaA?=")],
        &[version, method, ("mcp-name", "=?base64?!!!?=")],
        &[version, method, encoded, ("mcp-name", "other")],
    ] {
        let error = refused(modern.server.post_with(headers, &call).await, 400, -32020).await;
        assert_eq!(error["id"], 3, "{headers:?}");
    }
    // The headers are right, and there is no such tool.
    let right = [
        ("MCP-PROTOCOL-VERSION", stateless()),
        ("Mcp-Method", " tools/call "),
        encoded,
    ];
    refused(modern.server.post_with(&right, &call).await, 200, -32602).await;
}

#[tokio::test]
async fn headers_that_repeat_arguments_are_compared_by_value() {
    let modern = both().await;
    for (arguments, headers) in [
        (json!({}), &[][..]),
        (json!({"text": null}), &[]),
        (
            json!({"text": "Zürich"}),
            &[("mcp-param-text", "=?base64?WsO8cmljaA==?=")],
        ),
        (
            json!({"text": "a", "count": 42}),
            &[("Mcp-Param-Text", "a"), ("Mcp-Param-Count", "42.0")],
        ),
    ] {
        let answer = modern.call("marked", arguments.clone(), headers).await;
        assert_eq!(answer.status, 200, "{arguments}");
    }
    for (arguments, headers) in [
        (json!({"text": "a"}), &[][..]),
        (json!({}), &[("mcp-param-text", "a")]),
        (json!({"text": "a"}), &[("mcp-param-text", "b")]),
        (json!({"text": "a"}), &[("mcp-param-text", "=?base64?YQ?=")]),
        (json!({"count": 42}), &[("mcp-param-count", "43")]),
    ] {
        let error = refused(modern.call("marked", arguments, headers).await, 400, -32020).await;
        assert_eq!(error["id"], 7);
    }
}

#[tokio::test]
async fn errors_have_the_http_status_that_the_revision_specifies() {
    let modern = both().await;
    let mut unknown = alone(1, "tools/list", json!({}));
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1999-01-01");
    let answer = modern.post(&unknown, &[]).await;
    refused(answer, 400, -32020).await;
    let headers = [("mcp-protocol-version", "1999-01-01"), ("mcp-method", "tools/list")];
    let error = refused(modern.server.post_with(&headers, &unknown).await, 400, -32022).await;
    assert_eq!(error["error"]["data"]["requested"], "1999-01-01");
    let supported = error["error"]["data"]["supported"].as_array().expect("revisions");
    assert!(supported.contains(&json!(stateless())));
    // No other header is required, because those of an unknown revision aren't known.
    refused(modern.server.post_with(&headers[..1], &unknown).await, 400, -32022).await;

    for (at, method) in [
        (1, "ping"),
        (2, "initialize"),
        (3, "logging/setLevel"),
        (4, "odd/method"),
    ] {
        let error = refused(modern.post(&alone(at, method, json!({})), &[]).await, 404, -32601).await;
        assert_eq!(error["id"], at);
    }
    for key in ["protocolVersion", "clientCapabilities"] {
        let mut message = alone(5, "server/discover", json!({}));
        let meta = message["params"]["_meta"].as_object_mut().expect("an object");
        meta.remove(&format!("io.modelcontextprotocol/{key}"));
        assert_eq!(refused(modern.post(&message, &[]).await, 400, -32602).await["id"], 5);
    }
    refused(
        modern.post(&request(6, "server/discover", json!({})), &[]).await,
        400,
        -32602,
    )
    .await;
    let call = modern.call("nothing", json!({}), &[]).await;
    refused(call, 200, -32602).await;
}

#[tokio::test]
async fn a_stream_has_notifications_of_its_request_and_ends_with_the_response() {
    let modern = both().await;
    let mut params = json!({"name": "steps", "arguments": {}});
    params["_meta"]["progressToken"] = json!("p");
    let mut answer = modern.post(&alone(1, "tools/call", params.clone()), &[]).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    let mut events = Vec::new();
    while let Some((id, event)) = answer.event().await {
        assert_eq!(id, "", "nothing can be resumed");
        events.push(event);
    }
    let progress: Vec<_> = events
        .iter()
        .filter_map(|event| event["params"]["progress"].as_f64())
        .collect();
    assert_eq!(progress, [1.0, 2.0]);
    assert_eq!(events[2]["result"]["content"][0]["text"], "done");

    let json_only = serve_tools(|server| server.json_only(true), modern_only()).await;
    let mut answer = json_only.post(&alone(1, "tools/call", params), &[]).await;
    assert_eq!(answer.json().await["result"]["content"][0]["text"], "done");
    let mut answer = modern.call("asks", json!({}), &[]).await;
    let text = answer.json().await["result"]["content"][0]["text"].clone();
    assert!(text.as_str().expect("a text").contains("send no requests"), "{text}");
}

#[tokio::test]
async fn a_handler_that_answers_at_once_runs_in_the_task_of_its_connection() {
    let connection: Arc<Mutex<Option<task::Id>>> = Arc::default();
    let (seen, own) = (Arc::clone(&connection), Arc::clone(&connection));
    let is_own = move || task::try_id() == *own.lock().expect("nothing panics");
    let waits = is_own.clone();
    let tools = Router::new("tools", "1.0")
        .tool("at_once", "Answers at once", move || is_own().to_string())
        .tool("later", "Waits before it answers", move || {
            let waits = waits.clone();
            async move {
                tokio::time::sleep(Duration::from_millis(1)).await;
                waits().to_string()
            }
        });
    let app = HttpServer::new(tools).app();
    let app = app.layer(from_fn(move |request: Request, next: Next| {
        *seen.lock().expect("nothing panics") = task::try_id();
        next.run(request)
    }));
    let server = serve_app(app, Seen::default(), |serve| serve).await;
    let modern = Modern {
        server,
        dropped: Arc::default(),
    };
    for (tool, is_own) in [("at_once", "true"), ("later", "false"), ("at_once", "true")] {
        let answer = modern.call(tool, json!({}), &[]).await.json().await;
        assert_eq!(answer["result"]["content"][0]["text"], is_own, "{tool}: {answer}");
    }
}

#[tokio::test]
async fn closing_the_connection_cancels_the_request() {
    let modern = serve_tools(
        |server| server.keep_alive(Duration::from_millis(20)),
        Revision::ALL.to_vec(),
    )
    .await;
    let json_type = ("accept", "application/json");
    let early = alone(1, "tools/call", json!({"name": "never", "arguments": {}})).to_string();
    let headers = [
        json_type,
        ("content-type", "application/json"),
        ("mcp-protocol-version", stateless()),
        ("mcp-method", "tools/call"),
        ("mcp-name", "never"),
    ];
    let posting = modern.server.send("POST", "/mcp", &headers, early.as_bytes());
    assert!(tokio::time::timeout(Duration::from_millis(300), posting).await.is_err());
    until("a call without an answer is cancelled", || {
        modern.dropped.load(Ordering::SeqCst) == 1
    })
    .await;

    let mut answer = modern.call("never", json!({}), &[]).await;
    while !answer.body.ends_with(b":\n:\n") {
        answer.read().await;
    }
    drop(answer);
    until("a call with a stream is cancelled", || {
        modern.dropped.load(Ordering::SeqCst) == 2
    })
    .await;
}

#[tokio::test]
async fn the_opening_timeout_of_sessions_does_not_end_a_quiet_stateless_stream() {
    let config = |server: HttpServer| {
        server
            .initialize_timeout(Duration::from_millis(50))
            .keep_alive(Duration::from_millis(20))
    };
    let modern = serve_tools(config, Revision::ALL.to_vec()).await;
    let mut answer = modern.call("never", json!({}), &[]).await;
    let since = tokio::time::Instant::now();
    while since.elapsed() < Duration::from_millis(400) {
        answer.read().await;
    }
    assert_eq!(modern.dropped.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn batches_and_responses_are_refused_and_notifications_accepted() {
    let modern = both().await;
    let batch = json!([alone(1, "tools/list", json!({})), alone(2, "tools/list", json!({}))]);
    refused(modern.post(&batch, &[]).await, 400, -32600).await;
    let response = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    let headers = [("mcp-protocol-version", stateless())];
    refused(modern.server.post_with(&headers, &response).await, 400, -32600).await;
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(modern.post(&cancelled, &[]).await.status, 202);
}

#[tokio::test]
async fn a_server_of_stateless_revisions_takes_only_post_and_no_handshake() {
    let modern = serve_tools(|server| server, modern_only()).await;
    for method in ["GET", "DELETE", "PUT"] {
        let answer = modern
            .server
            .send(method, "/mcp", &[EVENTS, ("mcp-session-id", "a")], b"")
            .await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{method}");
    }
    assert_eq!(modern.server.send("GET", "/sse", &[EVENTS], b"").await.status, 404);
    let opening = json!({
        "protocolVersion": hub(), "capabilities": {}, "clientInfo": {"name": "legacy", "version": "1"},
    });
    let answer = modern.server.post_with(&[], &request(1, "initialize", opening)).await;
    let error = refused(answer, 400, -32022).await;
    assert_eq!(error["error"]["data"]["supported"], json!(modern_only()));
    refused(
        modern.server.post_with(&[], &request(1, "tools/list", json!({}))).await,
        400,
        -32602,
    )
    .await;
}
