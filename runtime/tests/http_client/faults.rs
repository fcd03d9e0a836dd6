//! What goes wrong.

use std::time::Duration;

use mcp_runtime::transport::http::client::{HTTP_FAILED, HttpClient, HttpError, HttpOptions, SessionExpired};
use mcp_runtime::transport::{Incoming, Sender, TransportError};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::server::{STREAM, Server, error, message, notification, progress, receive, request, result};

#[tokio::test]
async fn a_stream_that_cannot_be_resumed_fails_its_request() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    client.send(request(1, "tools/call")).await.expect("it is sent");
    server
        .next()
        .await
        .say(&format!("{STREAM}data: {}\n\n", progress(1)))
        .await;
    assert_eq!(message(&mut receiver).await, progress(1));
    assert_eq!(error(&mut receiver, 1).await["code"], HTTP_FAILED);

    client.send(request(2, "tools/call")).await.expect("it is sent");
    server.next().await.say(&format!("{STREAM}id: 7\ndata:\n\n")).await;
    for _ in 0..3 {
        server.next().await.status(500).await;
    }
    assert_eq!(error(&mut receiver, 2).await["data"]["status"], 500);
}

#[tokio::test]
async fn a_session_that_cannot_begin_anew_expires_once_and_another_may_begin() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    server.begin(&client, &mut receiver).await.status(405).await;
    client.send(request(1, "tools/call")).await.expect("it is sent");
    client.send(request(2, "tools/call")).await.expect("it is sent");
    let (first, second) = (server.next().await, server.next().await);
    assert_eq!(first.header("mcp-session-id"), Some("s-1"));
    first.status(404).await;
    second.status(404).await;
    let anew = server.next().await;
    assert_eq!(anew.body["method"], "initialize");
    anew.status(404).await;
    let (mut failed, mut expired) = (Vec::new(), 0);
    for _ in 0..3 {
        match receive(&mut receiver).await {
            Ok(Some(Incoming::Message { json, .. })) => {
                failed.push(serde_json::from_slice::<Value>(&json).expect("JSON"))
            }
            Err(TransportError::Other(error)) if error.is::<SessionExpired>() => expired += 1,
            other => panic!("neither a failure nor the end: {other:?}"),
        }
    }
    assert_eq!(expired, 1);
    assert_eq!(failed.len(), 2);
    assert!(failed.iter().all(|failed| failed["error"]["code"] == HTTP_FAILED));

    client.send(request(3, "initialize")).await.expect("it is sent");
    let asked = server.next().await;
    assert_eq!(asked.header("mcp-session-id"), None);
    assert_eq!(asked.header("mcp-protocol-version"), None);
    asked.json(200, "mcp-session-id: s-2\r\n", &result(3)).await;
    assert_eq!(message(&mut receiver).await, result(3));
    client.send(request(4, "tools/call")).await.expect("it is sent");
    assert_eq!(server.next().await.header("mcp-session-id"), Some("s-2"));
}

#[tokio::test]
async fn an_endpoint_elsewhere_is_never_posted_to() {
    let (server, other) = (Server::start().await, Server::start().await);
    let (client, mut receiver) = server.client(HttpOptions::default());
    client.send(request(1, "initialize")).await.expect("it is sent");
    server.next().await.status(404).await;
    server
        .next()
        .await
        .say(&format!("{STREAM}event: endpoint\ndata: {}\n\n", other.url()))
        .await;
    assert_eq!(
        error(&mut receiver, 1).await["data"]["status"],
        404,
        "the first failure is told"
    );
    assert!(timeout(Duration::from_millis(100), other.0.accept()).await.is_err());
}

#[tokio::test]
async fn a_server_that_wants_a_token_or_answers_in_our_name_is_not_asked_for_the_older_way() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    client.send(request(1, "initialize")).await.expect("it is sent");
    let mut asked = server.next().await;
    asked
        .say("HTTP/1.1 401 X\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        .await;
    let data = error(&mut receiver, 1).await["data"].take();
    assert_eq!(data, json!({"status": 401, "authenticate": "Bearer"}));

    client.send(request(2, "initialize")).await.expect("it is sent");
    let refusal = json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -32602, "message": "no such version"}});
    server.next().await.json(400, "", &refusal).await;
    assert_eq!(message(&mut receiver).await, refusal);
}

#[tokio::test]
async fn whatever_fails_a_request_answers_it_and_the_session_goes_on() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default().message_bytes(100));
    let nobody = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "busy"}});
    for id in 1..=8 {
        client.send(request(id, "tools/call")).await.expect("it is sent");
        let mut asked = server.next().await;
        match id {
            1 => asked.status(500).await,
            2 => asked.json(400, "", &nobody).await,
            3 => {
                asked
                    .say("HTTP/1.1 202 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                    .await
            }
            4 => asked.json(200, "", &json!("x".repeat(101))).await,
            5 => asked.say(&format!("{STREAM}data: {}\n\n", "x".repeat(101))).await,
            6 => {
                asked
                    .say("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"half\":")
                    .await
            }
            7 => asked
                .say(
                    "HTTP/1.1 302 X\r\nlocation: http://localhost:1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                )
                .await,
            _ => drop(asked),
        }
        let error = error(&mut receiver, id).await;
        assert_eq!(
            error["code"],
            if id == 2 { -32001 } else { HTTP_FAILED },
            "{id}: {error}"
        );
    }
    client.send(request(9, "tools/call")).await.expect("it is sent");
    server.next().await.json(200, "", &result(8)).await;
    assert_eq!(
        message(&mut receiver).await,
        result(8),
        "the answer to another is handed on"
    );
    assert_eq!(error(&mut receiver, 9).await["code"], HTTP_FAILED);

    let sent = tokio::join!(client.send(notification("notifications/x")), async {
        server.next().await.status(500).await
    });
    sent.0.expect("no one waits for an answer");
    drop(server);
    client.send(request(10, "tools/call")).await.expect("it is sent");
    assert_eq!(error(&mut receiver, 10).await["code"], HTTP_FAILED);
}

#[tokio::test]
async fn a_server_that_says_more_than_is_received_has_to_wait() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    client.send(request(1, "tools/call")).await.expect("it is sent");
    let mut asked = server.next().await;
    asked.say(STREAM).await;
    let event = format!("data: \"{}\"\n\n", "x".repeat(100_000));
    let mut said = 0;
    while timeout(Duration::from_secs(1), asked.stream.write_all(event.as_bytes()))
        .await
        .is_ok()
    {
        said += 1;
        assert!(said < 1_000, "someone holds all of it");
    }
    drop(asked);
    for _ in 0..said {
        message(&mut receiver).await;
    }
}

#[test]
fn an_address_must_be_one_of_http() {
    for url in ["", "mcp", "ftp://localhost/mcp", "file:///mcp", "http://"] {
        assert!(
            matches!(HttpClient::new(url, HttpOptions::default()), Err(HttpError::Address(_))),
            "{url}"
        );
    }
}
