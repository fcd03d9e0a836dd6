//! Start and end of sessions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use mcp_runtime::transport::http::server::{HttpServer, MemoryStore, SessionRecord, SessionStore, StoreFuture};
use mcp_runtime::{Options, Router};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task;

use crate::http_server::client::*;
use crate::http_server::engine::Seen;

#[tokio::test]
async fn a_session_begins_answers_and_ends() {
    let server = serve(|server| server).await;
    let mut first = server.post_with(&[], &initialize(hub())).await;
    assert_eq!(first.messages().await.len(), 1);
    let session = first.session();

    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let mut accepted = server.post(&session, note).await;
    assert_eq!((accepted.status, accepted.whole().await.as_str()), (202, ""));
    let response = json!({"jsonrpc": "2.0", "id": 5, "result": {}});
    assert_eq!(server.post(&session, response).await.status, 202);

    let mut ping = server.post(&session, request(1, "ping", json!({}))).await;
    assert_eq!(
        ping.messages().await,
        [json!({"jsonrpc": "2.0", "id": 1, "result": {}})]
    );

    let headers = [("mcp-session-id", session.as_str())];
    assert_eq!(server.send("DELETE", "/mcp", &headers, b"").await.status, 204);
    assert_eq!(server.post(&session, request(2, "ping", json!({}))).await.status, 404);
    assert_eq!(server.send("DELETE", "/mcp", &headers, b"").await.status, 404);
    until("the engine hears of the end", || {
        server.seen.ended.load(Ordering::SeqCst) == 1
    })
    .await;
}

#[tokio::test]
async fn the_session_id_is_required_and_must_match_exactly() {
    let server = serve(|server| server).await;
    let session = server.begin(hub()).await;
    let ping = request(1, "ping", json!({}));
    assert_eq!(server.post_with(&[], &ping).await.status, 400);
    assert_eq!(
        server
            .send("GET", "/mcp", &[("accept", "text/event-stream")], b"")
            .await
            .status,
        400
    );
    assert_eq!(server.send("DELETE", "/mcp", &[], b"").await.status, 400);
    for id in [
        "",
        &session[..31],
        &format!("{session}0"),
        &session.to_uppercase(),
        "unknown",
    ] {
        assert_eq!(server.post(id, ping.clone()).await.status, 404, "{id}");
        assert_eq!(server.listen(id, None).await.status, 404, "{id}");
    }
    let twice = [
        ("mcp-session-id", session.as_str()),
        ("mcp-session-id", session.as_str()),
    ];
    assert_eq!(server.post_with(&twice, &ping).await.status, 400);
}

#[tokio::test]
async fn a_failed_initialize_starts_no_session() {
    let server = serve(|server| server).await;
    let mut answer = server.post_with(&[], &initialize("none")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("mcp-session-id"), None);
    assert_eq!(answer.messages().await[0]["error"]["code"], -32602);
    until("the engine ends", || server.seen.ended.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test]
async fn an_idle_session_expires_unless_a_client_listens() {
    let server = serve(|server| server.expiry(Duration::from_millis(400))).await;
    let (left, heard) = (server.begin(hub()).await, server.begin(hub()).await);
    let _listening = server.listen(&heard, None).await;
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!(server.post(&left, request(1, "ping", json!({}))).await.status, 404);
    assert_eq!(server.post(&heard, request(1, "ping", json!({}))).await.status, 200);
    assert_eq!(server.seen.ended.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn no_timeout_is_too_long() {
    let longest = Duration::MAX;
    let server = serve_with(
        |server| {
            let server = server.initialize_timeout(longest).expiry(longest).keep_alive(longest);
            server.stream_after(longest).stall_timeout(longest)
        },
        |serve| serve.header_timeout(longest).write_timeout(longest),
    )
    .await;
    let session = server.begin(hub()).await;
    let mut listening = server.listen(&session, None).await;
    assert_eq!(server.post(&session, request(1, "ping", json!({}))).await.status, 200);
    let die = json!({"jsonrpc": "2.0", "method": "die"});
    assert_eq!(server.post(&session, die).await.status, 202);
    assert!(listening.events().await.is_empty(), "streams end");
}

#[tokio::test]
async fn a_session_ends_with_its_engine() {
    let server = serve(|server| server).await;
    let session = server.begin(hub()).await;
    let mut listening = server.listen(&session, None).await;
    let die = json!({"jsonrpc": "2.0", "method": "die"});
    assert_eq!(server.post(&session, die).await.status, 202);
    assert!(listening.events().await.is_empty(), "streams end");
    let mut status = 0;
    for _ in 0..100 {
        status = server.post(&session, request(1, "ping", json!({}))).await.status;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(status, 404);
}

#[tokio::test]
async fn pending_requests_get_an_error_when_their_session_ends() {
    let is_answer = |answer: &Value| answer["id"] == 7 && answer["error"]["code"] == -32603;
    for config in [
        (|server| server.json_only(true)) as fn(HttpServer) -> HttpServer,
        |server| server.stream_after(Duration::from_secs(60)),
    ] {
        let server = serve(config).await;
        let session = server.begin(hub()).await;
        let never = server.post(&session, request(7, "never", json!({})));
        let ended = async {
            until("the request is in flight", || {
                server.seen.taken.load(Ordering::SeqCst) == 2
            })
            .await;
            server
                .send("DELETE", "/mcp", &[("mcp-session-id", &session)], b"")
                .await
        };
        let (mut never, ended) = tokio::join!(never, ended);
        assert_eq!((ended.status, never.status), (204, 200));
        assert!(is_answer(&never.json().await));
    }
    let server = serve(|server| server.stream_after(Duration::ZERO)).await;
    let session = server.begin(hub()).await;
    let mut never = server.post(&session, request(7, "never", json!({}))).await;
    server
        .send("DELETE", "/mcp", &[("mcp-session-id", &session)], b"")
        .await;
    assert!(is_answer(&never.events().await[0]));
}

#[tokio::test]
async fn sessions_and_requests_beyond_the_limits_are_refused() {
    let server = serve(|server| server.max_sessions(2).max_in_flight(2)).await;
    let (one, two) = (server.begin(hub()).await, server.begin(hub()).await);
    let _listening = (server.listen(&one, None).await, server.listen(&two, None).await);
    assert_eq!(server.post_with(&[], &initialize(hub())).await.status, 503);
    assert_eq!(server.send("GET", "/sse", &[EVENTS], b"").await.status, 503);
    let _first = server.post(&one, request(1, "never", json!({}))).await;
    assert_eq!(server.post(&one, request(3, "ping", json!({}))).await.status, 503);
    server.send("DELETE", "/mcp", &[("mcp-session-id", &one)], b"").await;
    until("the engine ends", || server.seen.ended.load(Ordering::SeqCst) == 1).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    server.begin(hub()).await;
}

/// A store that two servers share.
#[derive(Debug, Clone, Default)]
pub struct SharedStore(Arc<MemoryStore>);

impl SessionStore for SharedStore {
    fn create<'a>(&'a self, id: &'a str, record: SessionRecord, expiry: Duration) -> StoreFuture<'a, ()> {
        self.0.create(id, record, expiry)
    }

    fn touch<'a>(&'a self, id: &'a str, expiry: Duration) -> StoreFuture<'a, Option<SessionRecord>> {
        self.0.touch(id, expiry)
    }

    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        self.0.remove(id)
    }
}

#[tokio::test]
async fn a_session_continues_on_another_server_with_the_same_store() {
    let store = SharedStore::default();
    let one = serve(|server| server.store(store.clone())).await;
    let other = serve(|server| server.store(store)).await;
    let session = one.begin(batching()).await;
    let (first, second) = tokio::join!(
        other.post(&session, request(0, "echo", json!({"a": 1}))),
        other.post(&session, json!([request(1, "echo", json!({"a": 2}))])),
    );
    for mut answer in [first, second] {
        assert_eq!(answer.messages().await.len(), 1);
    }
    until("one engine stays", || {
        other.seen.started.load(Ordering::SeqCst) == other.seen.ended.load(Ordering::SeqCst) + 1
    })
    .await;
    one.send("DELETE", "/mcp", &[("mcp-session-id", &session)], b"").await;
    assert_eq!(other.post(&session, request(1, "ping", json!({}))).await.status, 404);
    until("the other engine ends too", || {
        other.seen.started.load(Ordering::SeqCst) == other.seen.ended.load(Ordering::SeqCst)
    })
    .await;
}

#[tokio::test]
async fn all_streams_end_when_the_server_shuts_down() {
    let token = tokio_util::sync::CancellationToken::new();
    let server = serve(|server| server.shutdown(token.clone())).await;
    let session = server.begin(hub()).await;
    let mut listening = server.listen(&session, None).await;
    token.cancel();
    assert!(listening.events().await.is_empty());
    until("the engine ends", || server.seen.ended.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test]
async fn shutdown_answers_requests_in_flight_and_refuses_new_ones() {
    for json_only in [false, true] {
        let token = tokio_util::sync::CancellationToken::new();
        let server = serve(|server| server.json_only(json_only).shutdown(token.clone())).await;
        let (session, other) = (server.begin(hub()).await, server.begin(hub()).await);
        let mut listening = server.listen(&session, None).await;
        let count = request(1, "count", json!({"count": 1, "own": true, "pause": 500}));
        let new = async {
            assert!(listening.event().await.is_some(), "the request is in flight");
            token.cancel();
            for session in [&session, &other] {
                assert_eq!(server.post(session, request(2, "ping", json!({}))).await.status, 503);
            }
            assert_eq!(server.post_with(&[], &initialize(hub())).await.status, 503);
            let response = json!({"jsonrpc": "2.0", "id": 5, "result": {}});
            assert_eq!(server.post(&session, response).await.status, 202);
        };
        let (mut answer, ()) = tokio::join!(server.post(&session, count), new);
        assert_eq!(answer.status, 200);
        assert!(answer.whole().await.contains("\"result\""));
        assert!(listening.events().await.is_empty(), "the session's stream ends");
        until("the engines end", || server.seen.ended.load(Ordering::SeqCst) == 2).await;
    }
}

#[tokio::test]
async fn shutdown_over_http_with_sse_answers_requests_in_flight_and_refuses_new_ones() {
    let token = tokio_util::sync::CancellationToken::new();
    let server = serve(|server| server.shutdown(token.clone())).await;
    let mut stream = server.send("GET", "/sse", &[EVENTS], b"").await;
    let (_, endpoint) = stream.event().await.unwrap();
    let endpoint = endpoint.as_str().unwrap();
    let json_type = ("content-type", "application/json");
    let count = request(1, "count", json!({"count": 1, "pause": 500})).to_string();
    let posted = server.send("POST", endpoint, &[json_type], count.as_bytes()).await;
    assert_eq!(posted.status, 202);
    assert!(stream.event().await.is_some(), "the request is in flight");
    token.cancel();
    let ping = request(2, "ping", json!({})).to_string();
    let refused = server.send("POST", endpoint, &[json_type], ping.as_bytes()).await;
    assert_eq!(refused.status, 503);
    assert_eq!(server.send("GET", "/sse", &[EVENTS], b"").await.status, 503);
    let rest = stream.events().await;
    assert_eq!((rest.len(), &rest[0]["id"]), (1, &json!(1)));
}

#[tokio::test]
async fn shutdown_waits_for_responses_no_longer_than_the_grace_period() {
    let token = tokio_util::sync::CancellationToken::new();
    let server = |server: HttpServer| server.shutdown(token.clone()).grace(Duration::from_millis(50));
    let server = serve(server).await;
    let session = server.begin(hub()).await;
    let mut listening = server.listen(&session, None).await;
    let asked = request(1, "count", json!({"count": 1, "own": true, "pause": 3_600_000}));
    let ending = async {
        assert!(listening.event().await.is_some(), "the request is in flight");
        token.cancel();
        assert!(listening.events().await.is_empty());
    };
    let (mut answer, ()) = tokio::join!(server.post(&session, asked), ending);
    assert!(!answer.whole().await.contains("\"result\""));
    until("the engine ends", || server.seen.ended.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_sessions_come_and_go() {
    let server = serve(|server| server.max_sessions(1000)).await;
    let mut sessions = Vec::new();
    for _ in 0..1000 {
        sessions.push(server.begin(hub()).await);
    }
    for session in &sessions {
        let ended = server.send("DELETE", "/mcp", &[("mcp-session-id", session)], b"").await;
        assert_eq!(ended.status, 204);
    }
    until("every engine ends", || server.seen.ended.load(Ordering::SeqCst) == 1000).await;
    server.begin(hub()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_requests_are_in_flight_at_once() {
    let server = serve(|server| server.stream_after(Duration::ZERO)).await;
    let session = server.begin(hub()).await;
    let mut streams = Vec::new();
    for id in 0..1000 {
        streams.push(
            server
                .post(&session, request(id, "wait", json!({"ms": 1000, "id": id})))
                .await,
        );
    }
    for (id, stream) in streams.iter_mut().enumerate() {
        let events = stream.messages().await;
        assert_eq!((events.len(), &events[0]["result"]["id"]), (1, &json!(id)));
    }
}

/// An `initialize` request with all params, as a router needs it.
fn whole_initialize() -> Value {
    let client = json!({"name": "test", "version": "1.0"});
    let params = json!({"protocolVersion": hub(), "capabilities": {}, "clientInfo": client});
    request(0, "initialize", params)
}

#[tokio::test]
async fn an_engine_that_starts_late_receives_the_requests_posted_before() {
    let app = HttpServer::from_fn(|transport, _| {
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let tools = Router::new("tools", "1.0").tool("answer", "Answers", || "done");
            tools.serve(Options::default(), transport);
        });
    });
    let server = serve_app(app, Seen::default(), |serve| serve).await;
    let session = server.post_with(&[], &whole_initialize()).await.session();
    let call = request(1, "tools/call", json!({"name": "answer", "arguments": {}}));
    let answer = server.post(&session, call).await.json().await;
    assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
}

#[tokio::test]
async fn a_call_starts_in_the_task_of_its_connection_and_survives_the_connection() {
    let connection: Arc<Mutex<Option<task::Id>>> = Arc::default();
    let (seen, own) = (Arc::clone(&connection), Arc::clone(&connection));
    let (waiting, released, is_done) = (
        Arc::new(Notify::new()),
        Arc::new(Notify::new()),
        Arc::new(AtomicBool::new(false)),
    );
    let (waits, release, done) = (Arc::clone(&waiting), Arc::clone(&released), Arc::clone(&is_done));
    let tools = Router::new("tools", "1.0")
        .tool("at_once", "Answers at once", move || {
            (task::try_id() == *own.lock().expect("nothing panics")).to_string()
        })
        .tool("later", "Waits before it answers", move || {
            let (waits, release, done) = (Arc::clone(&waits), Arc::clone(&release), Arc::clone(&done));
            async move {
                waits.notify_one();
                release.notified().await;
                done.store(true, Ordering::SeqCst);
                "done"
            }
        });
    let app = HttpServer::new(tools)
        .app()
        .layer(from_fn(move |request: Request, next: Next| {
            *seen.lock().expect("nothing panics") = task::try_id();
            next.run(request)
        }));
    let server = serve_app(app, Seen::default(), |serve| serve).await;
    let session = server.post_with(&[], &whole_initialize()).await.session();
    let call = |id, tool| {
        server.post(
            &session,
            request(id, "tools/call", json!({"name": tool, "arguments": {}})),
        )
    };

    let answer = call(1, "at_once").await.json().await;
    assert_eq!(answer["result"]["content"][0]["text"], "true", "{answer}");
    tokio::select! {
        biased;
        () = waiting.notified() => {}
        _ = call(2, "later") => panic!("it waits"),
    }
    let answer = call(3, "at_once").await.json().await;
    assert_eq!(answer["result"]["content"][0]["text"], "true", "{answer}");
    released.notify_one();
    until("the call continues without its connection", || {
        is_done.load(Ordering::SeqCst)
    })
    .await;
}
