//! Event streams of Streamable HTTP and of HTTP with SSE.

use std::time::Duration;

use mcp_adapters::Revision;
use mcp_runtime::transport::http::client::{HttpOptions, SessionExpired};
use mcp_runtime::transport::{Incoming, Receiver, Sender, TransportError};
use tokio::time::timeout;

use crate::http_client::server::{
    STREAM, Server, failure, message, notification, opened, progress, receive, request, result,
};

#[tokio::test]
async fn a_response_stream_can_carry_messages_before_and_after_the_response() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    client.send(request(1, "tools/call")).await.expect("it is sent");
    let mut asked = server.next().await;
    let (first, answer, after) = (progress(1), result(1), progress(2));
    asked
        .say(&format!(
            "{STREAM}: hello\n\nevent: message\ndata: {first}\n\nevent: other\ndata: 1\n\n"
        ))
        .await;
    assert_eq!(message(&mut receiver).await, first);
    asked.say(&format!("data: {answer}\r\n\r\ndata: {after}\n\n")).await;
    assert_eq!(message(&mut receiver).await, answer);
    assert_eq!(message(&mut receiver).await, after);
}

#[tokio::test]
async fn a_stream_that_was_cut_is_resumed_with_nothing_lost_or_doubled() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    client.send(request(1, "tools/call")).await.expect("it is sent");
    let mut asked = server.next().await;
    let lost = progress(2).to_string();
    let (half, _) = lost.split_at(20);
    let head = STREAM.replace("connection: close", "transfer-encoding: chunked");
    let events = format!(
        "id: a-0\nretry: 30\ndata:\n\nid: a-1\ndata: {}\n\nid: a-2\ndata: {half}",
        progress(1)
    );
    asked.say(&format!("{head}{:x}\r\n{events}\r\n", events.len())).await;
    drop(asked);

    // The server is unavailable for a moment.
    let asked = server.next().await;
    assert!(asked.head.starts_with("GET /mcp "));
    assert_eq!(asked.header("accept"), Some("text/event-stream"));
    assert_eq!(asked.header("last-event-id"), Some("a-1"));
    asked.status(503).await;
    let mut asked = server.next().await;
    assert_eq!(asked.header("last-event-id"), Some("a-1"));
    // It repeats the last event that the client has, and the stream ends again without the response.
    asked
        .say(&format!(
            "{STREAM}id: a-1\ndata: {}\n\nid: a-2\ndata: {lost}\n\n",
            progress(1)
        ))
        .await;
    drop(asked);
    let mut asked = server.next().await;
    assert_eq!(asked.header("last-event-id"), Some("a-2"));
    asked.say(&format!("{STREAM}id: a-3\ndata: {}\n\n", result(1))).await;
    drop(asked);
    for expected in [progress(1), progress(2), result(1)] {
        assert_eq!(message(&mut receiver).await, expected);
    }
    assert!(
        timeout(Duration::from_millis(200), receiver.receive()).await.is_err(),
        "nothing more comes"
    );
}

#[tokio::test]
async fn the_servers_own_stream_is_resumed_when_an_unreachable_server_responds_again() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    let mut asked = server.begin(&client, &mut receiver).await;
    asked.say(&format!("{STREAM}id: 1\ndata: {}\n\n", progress(1))).await;
    assert_eq!(message(&mut receiver).await, progress(1));
    drop(asked);
    for _ in 0..3 {
        server.next().await.status(503).await;
    }
    assert!(timeout(Duration::from_millis(500), server.0.accept()).await.is_err());

    client.send(request(1, "tools/call")).await.expect("it is sent");
    server.next().await.json(200, "", &result(1)).await;
    assert_eq!(message(&mut receiver).await, result(1));
    let mut asked = server.next().await;
    assert_eq!(asked.header("last-event-id"), Some("1"));
    asked.say(&format!("{STREAM}id: 2\ndata: {}\n\n", progress(2))).await;
    assert_eq!(message(&mut receiver).await, progress(2));
}

#[tokio::test]
async fn the_servers_own_stream_is_read_and_resumed_until_the_session_expires() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default().message_bytes(200));
    let mut asked = server.begin(&client, &mut receiver).await;
    assert_eq!(asked.header("mcp-session-id"), Some("s-1"));
    assert_eq!(
        asked.header("mcp-protocol-version"),
        Some(Revision::V2025_11_25.as_str())
    );
    assert_eq!(asked.header("last-event-id"), None);
    let long = "x".repeat(10_000);
    asked
        .say(&format!(
            "{STREAM}id: 1\ndata: {}\n\nid: 2\ndata: {long}\n\n",
            progress(1)
        ))
        .await;
    asked.say(&format!("id: 3\ndata: {}\n\n", progress(3))).await;
    assert_eq!(message(&mut receiver).await, progress(1));
    assert!(matches!(receive(&mut receiver).await, Ok(Some(Incoming::Refused { error, .. })) if error.code == -32600));
    assert_eq!(message(&mut receiver).await, progress(3));
    drop(asked);

    let mut asked = server.next().await;
    assert_eq!(asked.header("last-event-id"), Some("3"));
    asked.say(&format!("{STREAM}id: 4\ndata: {}\n\n", progress(4))).await;
    assert_eq!(message(&mut receiver).await, progress(4));
    drop(asked);
    let asked = server.next().await;
    assert_eq!(asked.header("last-event-id"), Some("4"));
    asked.status(404).await;
    let again = server.next().await;
    assert_eq!(again.body["method"], "initialize");
    again.status(404).await;
    assert!(matches!(receive(&mut receiver).await, Err(TransportError::Other(error)) if error.is::<SessionExpired>()));
}

#[tokio::test]
async fn sending_initialized_waits_until_the_servers_own_stream_is_open() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    client.send(request(0, "initialize")).await.unwrap();
    let answer = opened(Revision::V2025_11_25);
    server.next().await.json(200, "mcp-session-id: s-1\r\n", &answer).await;
    assert_eq!(message(&mut receiver).await, answer);

    let begun = tokio::spawn(async move { client.send(notification("notifications/initialized")).await });
    server.next().await.accept().await;
    let mut own = server.next().await;
    assert!(own.head.starts_with("GET "));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!begun.is_finished());
    own.say(STREAM).await;
    let begun = timeout(Duration::from_millis(500), begun).await;
    begun.expect("no longer than the stream takes").unwrap().unwrap();
}

#[tokio::test]
async fn http_with_sse_is_detected_and_the_session_ends_with_its_stream() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    client.send(request(1, "initialize")).await.expect("it is sent");
    server.next().await.status(405).await;
    let mut stream = server.next().await;
    assert!(stream.head.starts_with("GET /mcp "));
    stream
        .say(&format!("{STREAM}event: endpoint\ndata: /messages?sid=7\n\n"))
        .await;
    for id in 1..3 {
        let mut posted = server.next().await;
        assert!(posted.head.starts_with("POST /messages?sid=7 "));
        assert_eq!(posted.body["id"], id);
        posted
            .say("HTTP/1.1 202 Accepted\r\ncontent-length: 8\r\nconnection: close\r\n\r\nAccepted")
            .await;
        stream.say(&format!("event: message\ndata: {}\n\n", result(id))).await;
        assert_eq!(message(&mut receiver).await, result(id));
        client.send(request(id + 1, "tools/call")).await.expect("it is sent");
    }
    server.next().await.status(400).await;
    assert_eq!(failure(&mut receiver, 3).await.status, 400);
    drop(stream);
    assert!(matches!(receive(&mut receiver).await, Ok(None)));
    assert!(matches!(receive(&mut receiver).await, Ok(None)));
}
