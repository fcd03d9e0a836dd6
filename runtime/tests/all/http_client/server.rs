//! A hand-written server, and the messages between it and the client.

use std::time::Duration;

use mcp_adapters::Revision;
use mcp_runtime::CallError;
use mcp_runtime::transport::http::client::{HttpClient, HttpOptions, HttpReceiver, HttpSender};
use mcp_runtime::transport::{HttpFailure, Incoming, Outgoing, Purpose, Receiver, Sender, Transport, TransportError};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

pub const PATIENCE: Duration = Duration::from_secs(10);
/// The head of an event stream that ends with its connection.
pub const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n";

pub struct Server(pub TcpListener);

/// A request, and the connection for its response.
pub struct Asked {
    pub stream: TcpStream,
    pub head: String,
    pub body: Value,
}

impl Server {
    pub async fn start() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.expect("a port is free"))
    }

    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.0.local_addr().expect("it is bound"))
    }

    pub fn client(&self, options: HttpOptions) -> (HttpSender, HttpReceiver) {
        let options = options.reconnects(3, Duration::from_millis(20));
        HttpClient::new(&self.url(), options)
            .expect("the address is one")
            .split()
    }

    pub async fn next(&self) -> Asked {
        let (mut stream, _) = timeout(PATIENCE, self.0.accept())
            .await
            .expect("a request in time")
            .expect("accepts");
        let mut bytes = Vec::new();
        let head = loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            assert_ne!(stream.read_buf(&mut bytes).await.expect("a head"), 0, "the head ends");
        };
        let text = String::from_utf8(bytes[..head].to_vec()).expect("the head is text");
        let mut asked = Asked {
            stream,
            head: text,
            body: Value::Null,
        };
        let length: usize = asked
            .header("content-length")
            .map_or(0, |length| length.parse().expect("a number"));
        while bytes.len() < head + length {
            assert_ne!(
                asked.stream.read_buf(&mut bytes).await.expect("a body"),
                0,
                "the body ends"
            );
        }
        if length > 0 {
            asked.body = serde_json::from_slice(&bytes[head..]).expect("the body is JSON");
        }
        asked
    }

    /// Starts a session, and returns the client's request for the server's own stream.
    pub async fn begin(&self, client: &HttpSender, receiver: &mut HttpReceiver) -> Asked {
        client.send(request(0, "initialize")).await.expect("it is sent");
        self.next()
            .await
            .json(200, "mcp-session-id: s-1\r\n", &opened(Revision::V2025_11_25))
            .await;
        assert_eq!(message(receiver).await, opened(Revision::V2025_11_25));
        client.negotiated(Revision::V2025_11_25);
        let (sent, ()) = tokio::join!(client.send(notification("notifications/initialized")), async {
            self.next().await.accept().await;
        });
        sent.expect("the server has it");
        let listens = self.next().await;
        assert!(listens.head.starts_with("GET "));
        listens
    }
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .into_iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    pub async fn say(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.expect("the client reads");
    }

    pub async fn json(mut self, status: u16, headers: &str, body: &Value) {
        let body = body.to_string();
        let length = body.len();
        let head = format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n");
        self.say(&format!("{head}connection: close\r\n{headers}\r\n{body}"))
            .await;
    }

    pub async fn status(mut self, status: u16) {
        self.say(&format!(
            "HTTP/1.1 {status} X\r\ncontent-length: 4\r\nconnection: close\r\n\r\nwhat"
        ))
        .await;
    }

    pub async fn accept(mut self) {
        self.say("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            .await;
    }

    /// Waits until the client closes the connection.
    pub async fn left(mut self) {
        let read = timeout(PATIENCE, self.stream.read(&mut [0; 16]))
            .await
            .expect("the client closes the connection");
        assert!(matches!(read, Ok(0) | Err(_)));
    }
}

pub fn outgoing(json: &Value) -> Outgoing {
    Outgoing {
        json: json.to_string().into_bytes(),
        purpose: Purpose::Unsolicited,
    }
}

pub fn request(id: i64, method: &str) -> Outgoing {
    outgoing(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"name": "x"}}))
}

pub fn notification(method: &str) -> Outgoing {
    outgoing(&json!({"jsonrpc": "2.0", "method": method}))
}

pub fn progress(step: u32) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": step}})
}

pub fn result(id: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"ok": true}})
}

/// The response to `initialize`, which has the id 0.
pub fn opened(revision: Revision) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": revision.as_str()}})
}

pub async fn receive(receiver: &mut HttpReceiver) -> Result<Option<Incoming>, TransportError> {
    timeout(PATIENCE, receiver.receive())
        .await
        .expect("something comes in time")
}

pub async fn message(receiver: &mut HttpReceiver) -> Value {
    match receive(receiver).await {
        Ok(Some(Incoming::Message { json, .. })) => serde_json::from_slice(&json).expect("messages are JSON"),
        other => panic!("no message: {other:?}"),
    }
}

/// The error that ends the request `id`, which must come next.
pub async fn error(receiver: &mut HttpReceiver, id: i64) -> CallError {
    match receive(receiver).await {
        Ok(Some(Incoming::Failed { id: failed, error })) => {
            assert_eq!(failed, id.into());
            error
        }
        other => panic!("no failure: {other:?}"),
    }
}

/// The HTTP response that refused the request `id`.
pub async fn failure(receiver: &mut HttpReceiver, id: i64) -> HttpFailure {
    match error(receiver, id).await {
        CallError::Http(failure) => *failure,
        other => panic!("no HTTP failure: {other:?}"),
    }
}
