//! Principals of requests, which own sessions and share the limits.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use mcp_runtime::http::HeaderMap;
use mcp_runtime::http::request::Parts;
use mcp_runtime::router::Extension;
use mcp_runtime::transport::http::server::{HttpServer, SessionInfo};
use mcp_runtime::{Options, Revision, Router};
use serde_json::{Value, json};
#[cfg(target_os = "linux")]
use tokio::net::TcpSocket;

use crate::http_server::client::*;
use crate::http_server::engine::{Seen, engine};
use crate::http_server::sessions::SharedStore;
use crate::http_server::stateless::{alone, stateless};

const ALICE: (&str, &str) = ("authorization", "alice");
const BOB: (&str, &str) = ("authorization", "bob");
const NOBODY: (&str, &str) = ("x-unused", "");

/// A server that takes the `authorization` header as the name of the principal, unchecked.
fn trusting(server: HttpServer) -> HttpServer {
    server.principal(|request| {
        let user = request.headers.get("authorization")?;
        user.to_str().ok().map(str::to_owned)
    })
}

/// Begins a session of this user.
async fn begin(server: &TestServer, user: (&str, &str)) -> String {
    let mut answer = server.post_with(&[user], &initialize(hub())).await;
    answer.whole().await;
    answer.session()
}

fn ping() -> Value {
    request(1, "ping", json!({}))
}

/// Whether a session exists. The ping also counts as a use of it.
async fn is_there(server: &TestServer, user: (&str, &str), session: &str) -> bool {
    let mut answer = server.post_with(&[user, ("mcp-session-id", session)], &ping()).await;
    answer.whole().await;
    answer.status == 200
}

#[tokio::test]
async fn sessions_of_the_client_with_the_most_are_evicted_first() {
    let server = serve(|server| trusting(server).max_sessions(4)).await;
    let of_alice = begin(&server, ALICE).await;
    assert!(is_there(&server, ALICE, &of_alice).await);
    let mut of_bob = Vec::new();
    for _ in 0..8 {
        let session = begin(&server, BOB).await;
        assert!(is_there(&server, BOB, &session).await);
        of_bob.push(session);
    }
    assert!(is_there(&server, ALICE, &of_alice).await);
    for (at, session) in of_bob.iter().enumerate() {
        assert_eq!(
            is_there(&server, BOB, session).await,
            at >= 5,
            "the last three remain: {at}"
        );
    }
}

#[tokio::test]
async fn a_client_with_all_sessions_in_use_evicts_none_of_a_client_with_fewer() {
    let server = serve(|server| trusting(server).max_sessions(3).stream_after(Duration::ZERO)).await;
    let of_alice = begin(&server, ALICE).await;
    assert!(is_there(&server, ALICE, &of_alice).await);
    let mut in_use = Vec::new();
    for _ in 0..2 {
        let session = begin(&server, BOB).await;
        let headers = [BOB, ("mcp-session-id", session.as_str())];
        in_use.push(server.post_with(&headers, &request(1, "never", json!({}))).await);
    }
    assert_eq!(server.post_with(&[BOB], &initialize(hub())).await.status, 503);
    assert!(is_there(&server, ALICE, &of_alice).await);
}

#[tokio::test]
async fn a_client_with_many_stateless_calls_evicts_no_session_of_a_client_with_fewer() {
    let config = |server| trusting(server).revisions(Revision::ALL).max_sessions(3);
    let server = serve(|server| config(server).stream_after(Duration::ZERO)).await;
    let of_alice = begin(&server, ALICE).await;
    assert!(is_there(&server, ALICE, &of_alice).await);
    let call = async || {
        let headers = [BOB, ("mcp-protocol-version", stateless()), ("mcp-method", "never")];
        server.post_with(&headers, &alone(1, "never", json!({}))).await
    };
    let in_flight = [call().await, call().await];
    assert!(in_flight.iter().all(|answer| answer.status == 200));
    assert_eq!(call().await.status, 503);
    assert_eq!(server.post_with(&[BOB], &initialize(hub())).await.status, 503);
    assert_eq!(server.seen.ended.load(Ordering::SeqCst), 0);
    assert!(is_there(&server, ALICE, &of_alice).await);
}

#[tokio::test]
async fn a_client_with_many_pending_handshakes_evicts_none_of_a_client_with_fewer() {
    let seen = Seen::default();
    let for_engines = seen.clone();
    let app = HttpServer::from_fn(move |transport, info: SessionInfo| {
        for_engines.started.fetch_add(1, Ordering::SeqCst);
        let (of_bob, seen) = (info.principal.as_deref() == Some(BOB.1), for_engines.clone());
        tokio::spawn(async move {
            if of_bob {
                // `initialize` stays unanswered as long as the transport is held.
                let _held = transport;
                std::future::pending::<()>().await;
            } else {
                engine(transport, seen).await;
            }
        });
    });
    let server = serve_app(trusting(app).max_sessions(3), seen, |serve| serve).await;
    let of_alice = begin(&server, ALICE).await;
    assert!(is_there(&server, ALICE, &of_alice).await);
    let initialize = initialize(hub());
    let begin_two = async {
        tokio::join!(
            server.post_with(&[BOB], &initialize),
            server.post_with(&[BOB], &initialize)
        )
    };
    let begin_third = async {
        until("both start", || server.seen.started.load(Ordering::SeqCst) == 3).await;
        assert_eq!(server.post_with(&[BOB], &initialize).await.status, 503);
        assert!(is_there(&server, ALICE, &of_alice).await);
    };
    tokio::select! {
        _ = begin_two => panic!("`initialize` is answered"),
        () = begin_third => {}
    }
}

/// Not every system has a second loopback address without configuration.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn clients_without_principals_are_distinguished_by_their_addresses() {
    let server = serve(|server| server.max_sessions(4)).await;
    let post = async |from: [u8; 4], session: Option<&str>, message: Value| {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        let socket = socket.connect(server.address).await.unwrap();
        let mut headers = vec![("accept", BOTH), ("content-type", "application/json")];
        headers.extend(session.map(|session| ("mcp-session-id", session)));
        let body = message.to_string();
        let mut answer = server.send_on(socket, "POST", "/mcp", &headers, body.as_bytes()).await;
        answer.whole().await;
        answer
    };
    let (one, other) = ([127, 0, 0, 1], [127, 0, 0, 2]);
    let of_one = post(one, None, initialize(hub())).await.session();
    assert_eq!(post(one, Some(&of_one), ping()).await.status, 200);
    for _ in 0..8 {
        let of_other = post(other, None, initialize(hub())).await.session();
        assert_eq!(post(other, Some(&of_other), ping()).await.status, 200);
    }
    assert_eq!(post(one, Some(&of_one), ping()).await.status, 200);
}

#[tokio::test]
async fn only_the_principal_that_started_a_session_can_use_it() {
    let server = serve(trusting).await;
    for (owner, others) in [(ALICE, [BOB, NOBODY]), (NOBODY, [ALICE, BOB])] {
        let session = begin(&server, owner).await;
        let id = ("mcp-session-id", session.as_str());
        let events = ("accept", "text/event-stream");
        let mut listening = server.send("GET", "/mcp", &[owner, id, events], b"").await;
        assert_eq!(listening.status, 200);
        let last = listening.opening().await;
        let last = ("last-event-id", last.as_str());
        for other in others {
            assert_eq!(server.post_with(&[other, id], &ping()).await.status, 404);
            for headers in [&[other, id, events][..], &[other, id, events, last]] {
                assert_eq!(server.send("GET", "/mcp", headers, b"").await.status, 404);
            }
            assert_eq!(server.send("DELETE", "/mcp", &[other, id], b"").await.status, 404);
        }
        assert_eq!(server.post_with(&[owner, id], &ping()).await.status, 200);
        assert_eq!(server.send("DELETE", "/mcp", &[owner, id], b"").await.status, 204);
    }
}

#[tokio::test]
async fn only_the_principal_that_started_a_session_over_http_with_sse_can_use_it() {
    let server = serve(trusting).await;
    let mut stream = server
        .send("GET", "/sse", &[ALICE, ("accept", "text/event-stream")], b"")
        .await;
    let (_, endpoint) = stream.event().await.unwrap();
    let ping = ping().to_string();
    for (user, status) in [(BOB, 404), (NOBODY, 404), (ALICE, 202)] {
        let headers = [user, ("content-type", "application/json")];
        let answer = server
            .send("POST", endpoint.as_str().unwrap(), &headers, ping.as_bytes())
            .await;
        assert_eq!(answer.status, status, "{user:?}");
    }
}

#[tokio::test]
async fn only_the_principal_of_a_session_in_a_shared_store_can_use_it() {
    let store = SharedStore::default();
    let one = serve(|server| trusting(server).store(store.clone())).await;
    let other = serve(|server| trusting(server).store(store)).await;
    let session = begin(&one, ALICE).await;
    let id = ("mcp-session-id", session.as_str());
    for user in [BOB, NOBODY] {
        assert_eq!(other.post_with(&[user, id], &ping()).await.status, 404);
    }
    assert_eq!(other.seen.started.load(Ordering::SeqCst), 0);
    assert_eq!(other.post_with(&[ALICE, id], &ping()).await.status, 200);
    assert_eq!(other.post_with(&[BOB, id], &ping()).await.status, 404);
}

#[derive(Clone)]
struct User(String);

async fn authenticate(mut request: Request, next: Next) -> axum::response::Response {
    let user = request.headers()["authorization"].to_str().unwrap().to_owned();
    request.extensions_mut().insert(User(user));
    next.run(request).await
}

async fn who_calls(
    Extension(User(user)): Extension<User>,
    Extension(request): Extension<Parts>,
    headers: HeaderMap,
) -> String {
    assert_eq!(request.headers, headers);
    assert_eq!(headers["authorization"], user);
    user
}

#[tokio::test]
async fn a_tool_can_extract_the_http_request_of_its_call() {
    let app = HttpServer::from_fn(|transport, _| {
        Router::new("users", "1.0")
            .tool("who", "Says who calls", who_calls)
            .serve(Options::default(), transport);
    });
    let server = serve_app(
        app.json_only(true).app().layer(from_fn(authenticate)),
        Seen::default(),
        |serve| serve,
    )
    .await;
    let client = json!({"name": "client", "version": "1.0"});
    let params = json!({"protocolVersion": hub(), "capabilities": {}, "clientInfo": client});
    let session = server
        .post_with(&[ALICE], &request(0, "initialize", params))
        .await
        .session();
    for user in [ALICE, BOB] {
        let call = request(1, "tools/call", json!({"name": "who", "arguments": {}}));
        let headers = [user, ("mcp-session-id", session.as_str())];
        let answer = server.post_with(&headers, &call).await.json().await;
        assert_eq!(answer["result"]["content"][0]["text"], user.1, "{answer}");
    }
}
