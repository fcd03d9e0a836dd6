//! Limits on sessions: their number, their bytes, and the time until their first use.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_runtime::transport::http::server::HttpServer;
use serde_json::{Value, json};

use crate::http_server::client::*;

fn ping() -> Value {
    request(1, "ping", json!({}))
}

/// A request that gets no response, with a body of about this many bytes.
fn never(id: i64, bytes: usize) -> Value {
    request(id, "never", json!({"padding": "x".repeat(bytes)}))
}

/// A request that is echoed at once, with a body of about this many bytes.
fn echo(bytes: usize) -> Value {
    request(9, "wait", json!({"ms": 0, "padding": "x".repeat(bytes)}))
}

async fn status(server: &TestServer, session: &str, body: Value) -> u16 {
    server.post(session, body).await.status
}

#[tokio::test]
async fn a_session_without_a_message_after_initialize_ends_after_the_opening_time() {
    let server = serve(|server| server.initialize_timeout(Duration::from_millis(400))).await;
    let used = server.begin(hub()).await;
    assert_eq!(status(&server, &used, ping()).await, 200);
    let unused = server.begin(hub()).await;
    until("a session ends", || server.seen.ended.load(Ordering::SeqCst) == 1).await;
    assert_eq!(status(&server, &unused, ping()).await, 404);
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(status(&server, &used, ping()).await, 200);
}

#[tokio::test]
async fn a_session_beyond_the_limit_replaces_the_one_that_was_idle_longest() {
    let server = serve(|server| server.max_sessions(4).stream_after(Duration::ZERO)).await;
    let mut sessions = Vec::new();
    for _ in 0..4 {
        sessions.push(server.begin(hub()).await);
    }
    // The first has been used longest ago, the second is in use, the third hasn't been used at all.
    let _in_use = server.post(&sessions[1], never(1, 0)).await;
    for at in [0, 3] {
        assert_eq!(status(&server, &sessions[at], ping()).await, 200);
    }
    let fifth = server.begin(hub()).await;
    assert_eq!(status(&server, &fifth, ping()).await, 200);
    assert_eq!(status(&server, &sessions[2], ping()).await, 404);
    let sixth = server.begin(hub()).await;
    assert_eq!(status(&server, &sessions[0], ping()).await, 404);
    for session in [&sessions[1], &sessions[3], &fifth, &sixth] {
        assert_eq!(status(&server, session, request(2, "ping", json!({}))).await, 200);
    }
}

#[tokio::test]
async fn initialize_messages_kept_by_sessions_count_toward_the_byte_limit() {
    let server = serve(|server| server.max_bytes(80_000)).await;
    let mut sessions = Vec::new();
    for _ in 0..10 {
        let params = json!({"protocolVersion": hub(), "padding": "x".repeat(6000)});
        let mut answer = server.post_with(&[], &request(0, "initialize", params)).await;
        answer.whole().await;
        sessions.push(answer.session());
    }
    let mut alive = 0;
    for session in &sessions {
        alive += usize::from(status(&server, session, ping()).await == 200);
    }
    assert_eq!(alive, 3, "a quarter of the limit holds three sessions");
}

#[tokio::test]
async fn an_initialize_larger_than_its_share_is_refused_without_ending_a_session() {
    let server = serve(|server| server.max_bytes(80_000)).await;
    let session = server.begin(hub()).await;
    for bytes in [20_100, 19_600] {
        let params = json!({"protocolVersion": hub(), "padding": "x".repeat(bytes)});
        let answer = server.post_with(&[], &request(0, "initialize", params)).await;
        assert_eq!(answer.status, 413, "{bytes}");
    }
    assert_eq!(status(&server, &session, ping()).await, 200);
}

#[tokio::test]
async fn the_bytes_of_requests_in_flight_are_limited() {
    for config in [
        HttpServer::session_bytes,
        HttpServer::max_bytes as fn(HttpServer, usize) -> HttpServer,
    ] {
        let server = serve(|server| config(server, 1 << 20).stream_after(Duration::ZERO)).await;
        let session = server.begin(hub()).await;
        let _first = server.post(&session, never(1, 150_000)).await;
        assert_eq!(status(&server, &session, never(2, 150_000)).await, 503);
        assert_eq!(status(&server, &session, request(3, "ping", json!({}))).await, 200);
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        assert_eq!(status(&server, &session, cancel).await, 202);
        until("the request is cancelled", || {
            server.seen.taken.load(Ordering::SeqCst) == 4
        })
        .await;
        let mut last = server.post(&session, echo(150_000)).await;
        assert_eq!(last.status, 200);
        last.messages().await;
    }
}

#[tokio::test]
async fn an_idle_session_that_keeps_many_bytes_is_evicted_for_a_request_of_another() {
    let server = serve(|server| server.max_bytes(1 << 20)).await;
    let (keeps, idle, active) = (
        server.begin(hub()).await,
        server.begin(hub()).await,
        server.begin(hub()).await,
    );
    let params = json!({"count": 10, "size": 60_000, "own": true});
    assert_eq!(
        server
            .post(&keeps, request(1, "count", params))
            .await
            .messages()
            .await
            .len(),
        1
    );
    let mut answer = server.post(&active, echo(150_000)).await;
    assert_eq!((answer.status, answer.messages().await.len()), (200, 1));
    assert_eq!(status(&server, &keeps, ping()).await, 404);
    assert_eq!(status(&server, &idle, ping()).await, 200);
}

#[tokio::test]
async fn copies_of_a_body_made_while_handling_it_count_toward_the_byte_limits() {
    for config in [
        HttpServer::session_bytes,
        HttpServer::max_bytes as fn(HttpServer, usize) -> HttpServer,
    ] {
        let server = serve(|server| config(server, 1 << 20).stream_after(Duration::ZERO)).await;
        let session = server.begin(hub()).await;
        let _first = server.post(&session, never(1, 200_000)).await;
        assert_eq!(status(&server, &session, never(2, 200_000)).await, 503);
        assert_eq!(status(&server, &session, request(3, "ping", json!({}))).await, 200);
    }
}

#[tokio::test]
async fn a_body_that_the_byte_limit_of_a_session_can_never_hold_is_too_large() {
    let server = serve(|server| server.session_bytes(1 << 20)).await;
    let session = server.begin(hub()).await;
    assert_eq!(status(&server, &session, echo(300_000)).await, 413);
    assert_eq!(status(&server, &session, echo(150_000)).await, 200);
}

#[tokio::test]
async fn a_response_counts_toward_the_byte_limit_until_the_client_has_read_it() {
    const RESPONSE: usize = 16 << 20;
    let server = serve(|server| {
        let server = server.max_body(RESPONSE).session_bytes(8 * RESPONSE);
        server.max_bytes(9 * RESPONSE / 2).stream_after(Duration::from_secs(60))
    })
    .await;
    let session = server.begin(hub()).await;
    let bytes = RESPONSE - 1024;
    let mut unread = server.post(&session, echo(bytes)).await;
    assert_eq!(unread.status, 200);
    assert_eq!(status(&server, &session, echo(bytes)).await, 503);
    unread.whole().await;
    assert_eq!(status(&server, &session, echo(bytes)).await, 200);
}
