//! Failures of requests, streams and sessions.

use std::time::Duration;

use mcp_runtime::transport::http::client::reqwest::StatusCode;
use mcp_runtime::transport::http::client::{HttpClient, HttpError, HttpOptions, SessionExpired};
use mcp_runtime::transport::{Incoming, Sender, TransportError};
use mcp_runtime::{CallError, ConnectError, Options};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::common::{connect_to, with_handshake};
use crate::http_client::server::{
    STREAM, Server, error, failure, message, notification, progress, receive, request, result,
};

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
    assert!(matches!(error(&mut receiver, 1).await, CallError::Cut(_)));

    client.send(request(2, "tools/call")).await.expect("it is sent");
    server.next().await.say(&format!("{STREAM}id: 7\ndata:\n\n")).await;
    for _ in 0..3 {
        server.next().await.status(500).await;
    }
    assert_eq!(failure(&mut receiver, 2).await.status, 500);
}

#[tokio::test]
async fn a_session_that_cannot_be_renewed_expires_once_and_a_new_one_can_start() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    server.begin(&client, &mut receiver).await.status(405).await;
    client.send(request(1, "tools/call")).await.expect("it is sent");
    client.send(request(2, "tools/call")).await.expect("it is sent");
    let (first, second) = (server.next().await, server.next().await);
    assert_eq!(first.header("mcp-session-id"), Some("s-1"));
    first.status(404).await;
    second.status(404).await;
    let again = server.next().await;
    assert_eq!(again.body["method"], "initialize");
    again.status(404).await;
    let (mut failed, mut expired) = (Vec::new(), 0);
    for _ in 0..3 {
        match receive(&mut receiver).await {
            Ok(Some(Incoming::Failed { error, .. })) => failed.push(error),
            Err(TransportError::Other(error)) if error.is::<SessionExpired>() => expired += 1,
            other => panic!("neither a failure nor the end: {other:?}"),
        }
    }
    assert_eq!(expired, 1);
    assert_eq!(failed.len(), 2);
    assert!(failed.iter().all(|failed| matches!(failed, CallError::Transport(_))));

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
async fn an_sse_endpoint_of_another_origin_is_never_posted_to() {
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
        failure(&mut receiver, 1).await.status,
        404,
        "the first failure is reported"
    );
    assert!(timeout(Duration::from_millis(100), other.0.accept()).await.is_err());
}

#[tokio::test]
async fn a_401_or_a_json_rpc_error_does_not_lead_to_http_with_sse() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    client.send(request(1, "initialize")).await.expect("it is sent");
    let mut asked = server.next().await;
    asked
        .say("HTTP/1.1 401 X\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        .await;
    let failed = failure(&mut receiver, 1).await;
    assert_eq!(
        (failed.status, failed.challenges),
        (StatusCode::UNAUTHORIZED, vec!["Bearer".to_owned()])
    );

    client.send(request(2, "initialize")).await.expect("it is sent");
    let refusal = json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -32602, "message": "no such version"}});
    server.next().await.json(400, "", &refusal).await;
    let failed = failure(&mut receiver, 2).await;
    assert_eq!(failed.status, StatusCode::BAD_REQUEST);
    assert_eq!(serde_json::to_value(failed.response).expect("JSON"), refusal);
}

#[tokio::test]
async fn a_failure_keeps_the_status_the_challenges_and_the_start_of_the_body() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    client.send(request(1, "tools/call")).await.expect("it is sent");
    let challenges = [
        r#"Bearer resource_metadata="https://example.org/.well-known/oauth-protected-resource", scope="files:read""#,
        "Basic realm=\"files\"",
    ];
    let head = "HTTP/1.1 403 X\r\nconnection: close\r\ncontent-type: text/html\r\ncontent-length: 1000000\r\n";
    let [first, second] = challenges;
    let mut asked = server.next().await;
    asked
        .say(&format!(
            "{head}www-authenticate: {first}\r\nWWW-Authenticate: {second}\r\n"
        ))
        .await;
    let long = "z".repeat(9000);
    asked
        .say(&format!("www-authenticate: {long}\r\n\r\n<p>{}", "ü".repeat(499_998)))
        .await;
    let failed = failure(&mut receiver, 1).await;
    assert_eq!(failed.status, StatusCode::FORBIDDEN);
    assert_eq!(failed.challenges, challenges, "one that is too long is left out");
    assert!(failed.body.starts_with("<p>üüü"), "{}", failed.body);
    assert!((4000..4200).contains(&failed.body.len()));
    assert_eq!(failed.response, None);
    let text = failed.to_string();
    assert!(
        text.starts_with("the server answered with the HTTP status 403 Forbidden: <p>ü"),
        "{text}"
    );
    assert!(text.len() < 500, "{text}");
}

#[tokio::test]
async fn the_error_of_a_redirect_to_another_origin_names_its_target() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    client.send(request(1, "tools/call")).await.expect("it is sent");
    let headers = "location: https://other.example/mcp\r\n";
    server.next().await.json(308, headers, &json!(null)).await;
    assert_eq!(
        failure(&mut receiver, 1).await.to_string(),
        "the server answered with the HTTP status 308 Permanent Redirect, which redirects to https://other.example/mcp"
    );
}

#[tokio::test]
async fn only_redirects_that_repeat_the_request_are_followed() {
    for (status, is_followed) in [(301, false), (302, false), (303, false), (307, true), (308, true)] {
        let server = Server::start().await;
        let (client, mut receiver) = server.client(HttpOptions::default());
        client.send(request(1, "tools/call")).await.expect("it is sent");
        let headers = "location: /other\r\n";
        server.next().await.json(status, headers, &json!(null)).await;
        if is_followed {
            let again = server.next().await;
            assert_eq!(again.body["method"], "tools/call", "{status}");
        } else {
            let error = failure(&mut receiver, 1).await.to_string();
            assert!(
                error.contains(&status.to_string()) && error.ends_with("which redirects to /other"),
                "{error}"
            );
        }
    }
}

#[tokio::test]
async fn the_status_and_the_json_rpc_error_of_a_refusal_reach_the_caller() {
    let server = Server::start().await;
    let client = HttpClient::new(&server.url(), HttpOptions::default()).expect("the address is one");
    let connecting = connect_to(client, Options::default());
    let (connected, ()) = tokio::join!(connecting, async {
        let asked = server.next().await;
        let error = json!({"code": -32001, "message": "no token", "data": {"why": 1}});
        let refusal = json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error});
        asked.json(401, "www-authenticate: Bearer\r\n", &refusal).await;
    });
    let error = connected.expect_err("the server wants a token");
    assert_eq!(
        error.to_string(),
        "the server answered with the HTTP status 401 Unauthorized and error -32001: no token"
    );
    let ConnectError::Call(error) = error else {
        panic!("{error:?}")
    };
    assert_eq!(error.error_object().map(|error| error.code), Some(-32001));
    let CallError::Http(failed) = error else {
        panic!("{error:?}")
    };
    assert_eq!(
        (failed.status, failed.challenges),
        (StatusCode::UNAUTHORIZED, vec!["Bearer".to_owned()])
    );
}

#[tokio::test]
async fn every_failure_ends_its_request_and_the_session_continues() {
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
        match id {
            1 | 2 | 7 => assert!(matches!(error, CallError::Http(_)), "{id}: {error}"),
            3..=6 => assert!(matches!(error, CallError::InvalidResult(_)), "{id}: {error}"),
            _ => assert!(matches!(error, CallError::Transport(_)), "{id}: {error}"),
        }
        assert_eq!(
            error.error_object().map(|error| error.code),
            (id == 2).then_some(-32001)
        );
    }
    client.send(request(9, "tools/call")).await.expect("it is sent");
    server.next().await.json(200, "", &result(8)).await;
    assert_eq!(
        message(&mut receiver).await,
        result(8),
        "the response to another request is passed on"
    );
    assert!(matches!(error(&mut receiver, 9).await, CallError::InvalidResult(_)));

    let sent = tokio::join!(client.send(notification("notifications/x")), async {
        server.next().await.status(500).await
    });
    sent.0.expect("a refused notification is no error");
    drop(server);
    client.send(request(10, "tools/call")).await.expect("it is sent");
    assert!(matches!(error(&mut receiver, 10).await, CallError::Transport(_)));
}

#[tokio::test]
async fn an_empty_response_is_reported_as_empty() {
    let server = Server::start().await;
    let (client, mut receiver) = server.client(HttpOptions::default());
    for (id, head) in [(1, ""), (2, "content-type: application/json\r\n")] {
        client.send(request(id, "tools/call")).await.expect("it is sent");
        let response = format!("HTTP/1.1 200 OK\r\n{head}content-length: 0\r\nconnection: close\r\n\r\n");
        server.next().await.say(&response).await;
        let error = error(&mut receiver, id).await;
        assert!(matches!(error, CallError::InvalidResult(_)), "{error:?}");
        assert!(error.to_string().contains("has no body"), "{error}");
    }
}

#[tokio::test]
async fn a_stream_that_is_not_read_blocks_the_server_and_loses_nothing() {
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
        assert!(said < 1_000, "the client buffers without a limit");
    }
    drop(asked);
    for _ in 0..said {
        message(&mut receiver).await;
    }
}

#[test]
fn addresses_that_are_not_http_urls_are_refused() {
    for url in ["", "mcp", "ftp://localhost/mcp", "file:///mcp", "http://"] {
        assert!(
            matches!(HttpClient::new(url, HttpOptions::default()), Err(HttpError::Address(_))),
            "{url}"
        );
    }
}

#[tokio::test]
async fn an_oversized_response_on_the_stream_of_http_with_sse_fails_its_call_at_once() {
    let server = Server::start().await;
    let options = HttpOptions::default().message_bytes(10_000);
    let transport = HttpClient::new(&server.url(), options).expect("the address is one");
    let connecting = tokio::spawn(connect_to(transport, with_handshake()));
    server.next().await.status(405).await;
    let mut stream = server.next().await;
    stream
        .say(&format!("{STREAM}event: endpoint\ndata: /messages\n\n"))
        .await;
    let posted = server.next().await;
    let agreed = json!({
        "protocolVersion": posted.body["params"]["protocolVersion"], "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1"},
    });
    let agreed = json!({"jsonrpc": "2.0", "id": posted.body["id"], "result": agreed});
    posted.accept().await;
    stream.say(&format!("event: message\ndata: {agreed}\n\n")).await;
    server.next().await.accept().await;
    let session = connecting.await.expect("no panic").expect("it connects");

    let long = "x".repeat(100_000);
    for id_is_first in [true, false] {
        let calling = session.call_tool("t", json!({}));
        let answering = async {
            let posted = server.next().await;
            let id = posted.body["id"].clone();
            posted.accept().await;
            let answer = match id_is_first {
                true => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"x":"{long}"}}}}"#),
                false => format!(r#"{{"result":{{"content":[],"x":"{long}"}},"jsonrpc":"2.0","id":{id}}}"#),
            };
            stream.say(&format!("event: message\ndata: {answer}\n\n")).await;
        };
        let both = async { tokio::join!(calling, answering) };
        let (called, ()) = timeout(Duration::from_secs(10), both)
            .await
            .expect("the call fails in time");
        let error = called.unwrap_err();
        assert!(
            matches!(&error, CallError::InvalidResult(reason) if reason.contains("more than 10000 bytes")),
            "{error}"
        );
    }
}
