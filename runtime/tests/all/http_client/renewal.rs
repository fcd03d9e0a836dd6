//! Renewal of sessions that have expired at the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mcp_adapters::Revision;
use mcp_runtime::CallError;
use mcp_runtime::transport::http::client::{HttpOptions, HttpReceiver, HttpSender, SessionExpired};
use mcp_runtime::transport::{Incoming, Sender, TransportError};
use serde_json::json;
use tokio::time::timeout;

use crate::http_client::server::{
    Asked, STREAM, Server, error, message, notification, opened, outgoing, progress, receive, request, result,
};

/// Answers the requests that renew the session.
async fn answer_renewal(server: &Server, session: &str, receiver: &mut HttpReceiver) {
    let asked = server.next().await;
    assert_eq!(
        asked.body,
        serde_json::from_slice::<serde_json::Value>(&request(0, "initialize").json).expect("JSON")
    );
    assert_eq!(asked.header("mcp-session-id"), None);
    assert_eq!(asked.header("mcp-protocol-version"), None);
    let header = format!("mcp-session-id: {session}\r\n");
    asked.json(200, &header, &opened(Revision::V2025_11_25)).await;
    let asked = server.next().await;
    assert_eq!(asked.body["method"], "notifications/initialized");
    assert_eq!(asked.header("mcp-session-id"), Some(session));
    assert_eq!(
        asked.header("mcp-protocol-version"),
        Some(Revision::V2025_11_25.as_str())
    );
    asked.accept().await;
    assert!(matches!(receive(receiver).await, Ok(Some(Incoming::Renewed))));
}

/// A session that has expired when the client reopens the server's own stream.
async fn forgotten(server: &Server) -> (HttpSender, HttpReceiver) {
    let (client, mut receiver) = server.client(HttpOptions::default());
    let mut listens = server.begin(&client, &mut receiver).await;
    listens.say(STREAM).await;
    drop(listens);
    server.next().await.status(404).await;
    (client, receiver)
}

async fn expires(receiver: &mut HttpReceiver) {
    match receive(receiver).await {
        Err(TransportError::Other(error)) => assert!(error.is::<SessionExpired>()),
        other => panic!("the session is over: {other:?}"),
    }
}

#[tokio::test]
async fn an_expired_session_is_renewed_once_and_the_refused_requests_are_resent() {
    let server = Server::start().await;
    let renewed = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&renewed);
    let options = HttpOptions::default().renewed(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let (client, mut receiver) = server.client(options);
    let mut listens = server.begin(&client, &mut receiver).await;
    listens.say(STREAM).await;
    client.send(request(1, "tools/call")).await.expect("it is sent");
    let mut pending = server.next().await;
    pending.say(&format!("{STREAM}id: 1\ndata: {}\n\n", progress(1))).await;
    assert_eq!(message(&mut receiver).await, progress(1));

    let (second, third) = (request(2, "tools/call"), request(3, "tools/call"));
    client.send(second).await.expect("it is sent");
    client.send(third).await.expect("it is sent");
    let (second, third) = (server.next().await, server.next().await);
    second.status(404).await;
    third.status(404).await;
    answer_renewal(&server, "s-2", &mut receiver).await;
    assert!(
        matches!(error(&mut receiver, 1).await, CallError::Transport(_)),
        "a pending request fails at once"
    );
    pending.left().await;
    listens.left().await;

    let again = [server.next().await, server.next().await, server.next().await];
    assert!(again.iter().all(|asked| asked.header("mcp-session-id") == Some("s-2")));
    let (listens, posted): (Vec<Asked>, Vec<Asked>) =
        again.into_iter().partition(|asked| asked.head.starts_with("GET "));
    assert_eq!(listens.len(), 1);
    assert_eq!(listens[0].header("last-event-id"), None);
    for asked in posted {
        let answer = result(asked.body["id"].as_i64().expect("an id"));
        asked.json(200, "", &answer).await;
        assert_eq!(message(&mut receiver).await, answer);
    }
    assert_eq!(renewed.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_404_on_the_servers_own_stream_soon_after_a_renewal_leaves_the_next_one_to_a_request() {
    let server = Server::start().await;
    let (client, mut receiver) = forgotten(&server).await;
    answer_renewal(&server, "s-2", &mut receiver).await;
    let mut listens = server.next().await;
    assert_eq!(listens.header("mcp-session-id"), Some("s-2"));
    listens.say(&format!("{STREAM}data: {}\n\n", progress(1))).await;
    assert_eq!(message(&mut receiver).await, progress(1));
    drop(listens);
    server.next().await.status(404).await;
    assert!(timeout(Duration::from_millis(100), server.0.accept()).await.is_err());

    client.send(request(1, "tools/call")).await.expect("it is sent");
    server.next().await.status(404).await;
    answer_renewal(&server, "s-3", &mut receiver).await;
    for asked in [server.next().await, server.next().await] {
        assert_eq!(asked.header("mcp-session-id"), Some("s-3"));
        match asked.head.starts_with("GET ") {
            true => asked.status(405).await,
            false => asked.json(200, "", &result(1)).await,
        }
    }
    assert_eq!(message(&mut receiver).await, result(1));
}

#[tokio::test]
async fn a_session_renewed_in_another_revision_expires() {
    let server = Server::start().await;
    let (_client, mut receiver) = forgotten(&server).await;
    let oldest = Revision::ALL[0];
    server
        .next()
        .await
        .json(200, "mcp-session-id: s-2\r\n", &opened(oldest))
        .await;
    expires(&mut receiver).await;
}

#[tokio::test]
async fn a_request_refused_again_after_the_renewal_ends_the_session() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    server.begin(&client, &mut receiver).await.status(405).await;
    client.send(request(1, "tools/call")).await.expect("it is sent");
    server.next().await.status(404).await;
    answer_renewal(&server, "s-2", &mut receiver).await;
    for _ in 0..2 {
        let asked = server.next().await;
        assert_eq!(asked.header("mcp-session-id"), Some("s-2"));
        asked.status(404).await;
    }
    assert!(matches!(error(&mut receiver, 1).await, CallError::Transport(_)));
    expires(&mut receiver).await;
    assert!(
        timeout(Duration::from_millis(100), server.0.accept()).await.is_err(),
        "no more requests are sent"
    );
}

#[tokio::test]
async fn after_a_renewal_notifications_are_resent_but_not_responses_or_cancellations() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    server.begin(&client, &mut receiver).await.status(405).await;
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    for (session, message) in [("s-2", result(7)), ("s-3", cancelled)] {
        let (sent, ()) = tokio::join!(client.send(outgoing(&message)), async {
            server.next().await.status(404).await;
            answer_renewal(&server, session, &mut receiver).await;
            server.next().await.status(405).await;
        });
        sent.expect("the session is renewed");
        assert!(timeout(Duration::from_millis(100), server.0.accept()).await.is_err());
    }

    let (sent, ()) = tokio::join!(client.send(notification("notifications/roots/list_changed")), async {
        server.next().await.status(404).await;
        answer_renewal(&server, "s-4", &mut receiver).await;
        let both = [server.next().await, server.next().await];
        for asked in both {
            match asked.head.starts_with("GET ") {
                true => asked.status(405).await,
                false => {
                    assert_eq!(asked.body["method"], "notifications/roots/list_changed");
                    asked.accept().await;
                }
            }
        }
    });
    sent.expect("the new session has it");
}
