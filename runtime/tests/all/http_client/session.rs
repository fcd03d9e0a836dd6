//! Sessions and their headers.

use std::time::Duration;

use mcp_adapters::Revision;
use mcp_runtime::CallError;
use mcp_runtime::transport::http::client::HttpOptions;
use mcp_runtime::transport::{Sender, TransportError};
use serde_json::json;

use crate::http_client::server::{STREAM, Server, error, message, outgoing, receive, request, result};

#[tokio::test]
async fn the_session_id_and_the_negotiated_revision_are_sent_in_headers() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    client.send(request(1, "initialize")).await.expect("it is sent");
    let asked = server.next().await;
    assert!(asked.head.starts_with("POST /mcp HTTP/1.1\r\n"));
    assert_eq!(asked.header("accept"), Some("application/json, text/event-stream"));
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert_eq!(asked.header("mcp-session-id"), None);
    assert_eq!(asked.body["method"], "initialize");
    asked.json(200, "mcp-session-id: abc-123\r\n", &result(1)).await;
    assert_eq!(message(&mut receiver).await, result(1));

    let revisions = [None, Some(true), Some(false)];
    for (id, header) in (2..).zip(revisions) {
        let revision = header.and_then(|has| {
            Revision::ALL
                .into_iter()
                .find(|of| of.facts().version_header.is_some() == has)
        });
        if let Some(revision) = revision {
            client.negotiated(revision);
        }
        client.send(request(id, "tools/call")).await.expect("it is sent");
        let asked = server.next().await;
        assert_eq!(asked.header("mcp-session-id"), Some("abc-123"));
        let expected = revision.filter(|_| header == Some(true)).map(Revision::as_str);
        assert_eq!(asked.header("mcp-protocol-version"), expected);
        asked.json(200, "", &result(id)).await;
        assert_eq!(message(&mut receiver).await, result(id));
    }
}

#[tokio::test]
async fn a_hook_adds_headers_to_each_request_and_can_wait_or_fail() {
    let server = Server::start().await;
    let options = HttpOptions::default().headers(|headers| {
        headers.insert("authorization", "Bearer one".parse().expect("a value"));
        headers.insert("accept", "text/html".parse().expect("a value"));
    });
    let (client, mut receiver) = server.client(options);
    let listens = server.begin(&client, &mut receiver).await;
    assert_eq!(listens.header("authorization"), Some("Bearer one"));
    assert_eq!(listens.header("accept"), Some("text/event-stream"));

    let count = std::sync::atomic::AtomicU32::new(0);
    let options = HttpOptions::default().headers_async(move |mut headers| {
        let call = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            if call > 0 {
                return Err("no token".into());
            }
            headers.insert("authorization", "Bearer two".parse()?);
            Ok(headers)
        }
    });
    let (client, mut receiver) = server.client(options);
    client.send(request(1, "tools/call")).await.expect("it is sent");
    let asked = server.next().await;
    assert_eq!(asked.header("authorization"), Some("Bearer two"));
    asked.json(200, "", &result(1)).await;
    assert_eq!(message(&mut receiver).await, result(1));
    client.send(request(2, "tools/call")).await.expect("it is sent");
    assert!(matches!(error(&mut receiver, 2).await, CallError::Transport(_)));
}

#[tokio::test]
async fn closing_ends_requests_in_flight_and_deletes_the_session() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    let mut listens = server.begin(&client, &mut receiver).await;
    listens.say(STREAM).await;
    client.send(request(1, "tools/call")).await.expect("it is sent");
    let pending = server.next().await;
    let ((), ()) = tokio::join!(client.close(), async {
        let asked = server.next().await;
        assert!(asked.head.starts_with("DELETE /mcp "));
        assert_eq!(asked.header("mcp-session-id"), Some("s-1"));
        assert_eq!(
            asked.header("mcp-protocol-version"),
            Some(Revision::V2025_11_25.as_str())
        );
        asked.status(405).await;
    });
    pending.left().await;
    listens.left().await;
    assert!(matches!(receive(&mut receiver).await, Ok(None)));
    assert!(matches!(
        client.send(request(2, "ping")).await,
        Err(TransportError::Closed)
    ));
}

#[tokio::test]
async fn cancelling_a_request_closes_its_connection() {
    let server = Server::start().await;
    let (client, _receiver) = server.client(HttpOptions::default());
    client.send(request(1, "tools/call")).await.expect("it is sent");
    let pending = server.next().await;
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let (sent, ()) = tokio::join!(client.send(outgoing(&cancelled)), async {
        let asked = server.next().await;
        assert_eq!(asked.body, cancelled);
        asked.status(202).await;
    });
    sent.expect("the server has it");
    pending.left().await;
}

#[tokio::test]
async fn dropping_the_client_closes_its_connections() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    client.send(request(1, "tools/call")).await.expect("it is sent");
    let pending = server.next().await;
    drop(client);
    pending.left().await;
    assert!(matches!(receive(&mut receiver).await, Ok(None)));
}
