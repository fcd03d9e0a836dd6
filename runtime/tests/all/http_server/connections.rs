//! Limits, timeouts and the end of connections.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::http_server::client::*;

/// The bytes that arrive until the server closes the connection.
async fn rest(mut socket: TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    let read = timeout(PATIENCE, socket.read_to_end(&mut rest)).await;
    // A connection that is reset is closed as well.
    let _ = read.expect("the server closes the connection");
    rest
}

async fn connect(server: &TestServer) -> TcpStream {
    TcpStream::connect(server.address).await.unwrap()
}

#[tokio::test]
async fn a_connection_without_a_complete_request_head_times_out() {
    let server = serve_with(|server| server, |serve| serve.header_timeout(Duration::from_millis(50))).await;
    let mut sockets = Vec::new();
    for begun in ["", "POST /mcp HTTP/1.1\r\nhost: localhost\r\nx-slow: "] {
        let mut socket = connect(&server).await;
        socket.write_all(begun.as_bytes()).await.unwrap();
        sockets.push(socket);
    }
    for socket in sockets {
        rest(socket).await;
    }
}

#[tokio::test]
async fn a_request_head_that_is_too_long_is_refused() {
    let server = serve(|server| server).await;
    let mut socket = connect(&server).await;
    let head = format!("GET /mcp HTTP/1.1\r\nx-long: {}", "x".repeat(65 << 10));
    // The server can close the connection before the whole head is sent.
    let _ = socket.write_all(head.as_bytes()).await;
    let answer = String::from_utf8(rest(socket).await).unwrap();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
}

#[tokio::test]
async fn a_body_that_is_announced_as_too_long_is_refused_before_it_arrives() {
    let server = serve(|server| server).await;
    let mut socket = connect(&server).await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\naccept: {BOTH}\r\ncontent-type: application/json\r\n\
         content-length: 99999999999\r\n\r\n",
        server.address
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let answer = String::from_utf8(rest(socket).await).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[tokio::test]
async fn a_connection_beyond_the_limit_waits_until_another_is_closed() {
    let server = serve_with(|server| server, |serve| serve.max_connections(2)).await;
    let session = server.begin(hub()).await;
    let _first = server.listen(&session, None).await;
    let second = server.listen(&session, None).await;
    let mut third = Box::pin(server.listen(&session, None));
    assert!(timeout(Duration::from_millis(200), &mut third).await.is_err());
    drop(second);
    assert_eq!(third.await.status, 200);
}

#[tokio::test]
async fn a_connection_whose_client_reads_nothing_is_closed() {
    let server = serve_with(
        |server| server,
        |serve| serve.max_connections(1).write_timeout(Duration::from_millis(100)),
    )
    .await;
    let session = server.begin(hub()).await;
    let much = request(1, "count", json!({"count": 100, "size": 500_000}));
    let _unread = server.post(&session, much).await;
    // Another connection is accepted only once the first is closed.
    server.begin(hub()).await;
}

#[tokio::test]
async fn shutdown_finishes_the_response_in_flight_and_closes_connections() {
    let token = CancellationToken::new();
    let server = serve_with(|server| server.json_only(true), |serve| serve.shutdown(token.clone())).await;
    let session = server.begin(hub()).await;
    let idle = connect(&server).await;
    let wait = request(1, "wait", json!({"ms": 500}));
    let waiting = server.post(&session, wait);
    let shutting_down = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        token.cancel();
    };
    let (mut answer, ()) = tokio::join!(waiting, shutting_down);
    assert_eq!(answer.json().await["id"], 1);
    assert!(rest(idle).await.is_empty());
    server.stopped().await;
}

#[tokio::test]
async fn shutdown_cuts_streams_after_the_grace_period() {
    let token = CancellationToken::new();
    let server = serve_with(
        |server| server,
        |serve| serve.shutdown(token.clone()).grace(Duration::from_millis(50)),
    )
    .await;
    let session = server.begin(hub()).await;
    let mut answer = server.post(&session, request(1, "never", json!({}))).await;
    token.cancel();
    let cut = timeout(PATIENCE, answer.whole()).await;
    cut.expect("the stream is cut");
    server.stopped().await;
}
