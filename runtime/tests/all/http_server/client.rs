//! A server on its own port, and a client that exposes the bytes on the wire.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_adapters::Revision;
use mcp_runtime::transport::http::server::{self, HttpServer, HttpService, Serve, SessionInfo, SessionTransport};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::http_server::engine::{Seen, engine};

pub const EVENTS: (&str, &str) = ("accept", "text/event-stream");
pub const BOTH: &str = "application/json, text/event-stream";
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The first revision for which `fact` is true.
pub fn with(fact: impl Fn(Revision) -> bool) -> &'static str {
    Revision::ALL
        .into_iter()
        .find(|revision| fact(*revision))
        .unwrap()
        .as_str()
}

pub fn batching() -> &'static str {
    with(|revision| revision.facts().batches)
}

/// The revision that handlers are written against.
pub fn hub() -> &'static str {
    Revision::V2025_11_25.as_str()
}

/// A server that runs on its own port.
pub struct TestServer {
    pub address: SocketAddr,
    pub seen: Seen,
    serving: JoinHandle<()>,
}

pub async fn serve(config: impl FnOnce(HttpServer) -> HttpServer) -> TestServer {
    serve_with(config, |serve| serve).await
}

pub async fn serve_with(
    config: impl FnOnce(HttpServer) -> HttpServer,
    settings: impl FnOnce(Serve<HttpServer>) -> Serve<HttpServer>,
) -> TestServer {
    let seen = Seen::default();
    let for_engines = seen.clone();
    let app = HttpServer::from_fn(move |transport: SessionTransport, _: SessionInfo| {
        for_engines.started.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(engine(transport, for_engines.clone()));
    });
    serve_app(config(app), seen, settings).await
}

pub async fn serve_app<S: HttpService>(app: S, seen: Seen, settings: impl FnOnce(Serve<S>) -> Serve<S>) -> TestServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(settings(server::serve(listener, app)).into_future());
    TestServer { address, seen, serving }
}

/// A response whose body can still be arriving.
pub struct Answer {
    socket: TcpStream,
    pub status: u16,
    headers: Vec<(String, String)>,
    /// The bytes of the body that have arrived and weren't read as events, without framing.
    pub body: Vec<u8>,
    raw: VecDeque<u8>,
    /// Remaining bytes of the body, unless it is chunked.
    left: Option<usize>,
    ended: bool,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    pub fn session(&self) -> String {
        self.header("mcp-session-id").expect("a session id").to_owned()
    }

    pub async fn read(&mut self) {
        let mut buffer = [0; 16 << 10];
        let count = timeout(PATIENCE, self.socket.read(&mut buffer))
            .await
            .expect("it hangs")
            .unwrap_or(0);
        self.raw.extend(&buffer[..count]);
        self.ended |= count == 0;
        self.unframe();
    }

    fn unframe(&mut self) {
        if let Some(left) = &mut self.left {
            let count = (*left).min(self.raw.len());
            self.body.extend(self.raw.drain(..count));
            *left -= count;
            self.ended |= *left == 0;
            return;
        }
        // Chunked: the length precedes each chunk.
        loop {
            let Some(end) = self
                .raw
                .iter()
                .zip(self.raw.iter().skip(1))
                .position(|pair| pair == (&b'\r', &b'\n'))
            else {
                return;
            };
            let length: Vec<u8> = self.raw.iter().take(end).copied().collect();
            let length = usize::from_str_radix(std::str::from_utf8(&length).unwrap(), 16).unwrap();
            if self.raw.len() < end + 2 + length + 2 {
                return;
            }
            self.raw.drain(..end + 2);
            self.body.extend(self.raw.drain(..length));
            self.raw.drain(..2);
            self.ended |= length == 0;
        }
    }

    pub async fn whole(&mut self) -> String {
        while !self.ended {
            self.read().await;
        }
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub async fn json(&mut self) -> Value {
        let body = self.whole().await;
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body:?}"))
    }

    /// The event id at the start of the stream.
    pub async fn opening(&mut self) -> String {
        while !self.body.ends_with(b"\n\n") {
            self.read().await;
        }
        let opening = std::str::from_utf8(&self.body).unwrap();
        let id = opening.lines().find_map(|line| line.strip_prefix("id: "));
        id.unwrap().to_owned()
    }

    /// The next event that has data: its id and its data. `None` once the stream has ended.
    pub async fn event(&mut self) -> Option<(String, Value)> {
        // The timeouts of reads don't suffice: a stream that should have ended still sends keep-alives.
        timeout(PATIENCE, self.next_event()).await.expect("no event comes")
    }

    async fn next_event(&mut self) -> Option<(String, Value)> {
        loop {
            while let Some(end) = self.body.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.body.drain(..end + 2).collect();
                let block = String::from_utf8(block).unwrap();
                let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
                let data = field("data:").unwrap_or_default();
                if !data.is_empty() {
                    let data = serde_json::from_str(data).unwrap_or_else(|_| Value::from(data));
                    return Some((field("id:").unwrap_or_default().to_owned(), data));
                }
            }
            if self.ended {
                return None;
            }
            self.read().await;
        }
    }

    /// All messages of the response, which is JSON or an event stream.
    pub async fn messages(&mut self) -> Vec<Value> {
        if self.header("content-type") == Some("application/json") {
            return vec![self.json().await];
        }
        self.events().await
    }

    pub async fn events(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some((_, data)) = self.event().await {
            events.push(data);
        }
        events
    }
}

impl TestServer {
    /// Waits until the server has shut down.
    pub async fn stopped(self) {
        let stopped = timeout(PATIENCE, self.serving).await;
        stopped.expect("the server shuts down").unwrap();
    }

    pub async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let socket = TcpStream::connect(self.address).await.unwrap();
        self.send_on(socket, method, path, headers, body).await
    }

    /// Sends a request on an open connection.
    pub async fn send_on(
        &self,
        mut socket: TcpStream,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            head += &format!("host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("content-length: {}\r\n\r\n", body.len());
        socket.write_all(head.as_bytes()).await.unwrap();
        // A server that refuses a body needn't read it.
        let _ = socket.write_all(body).await;
        let mut raw = Vec::new();
        let end = loop {
            let mut buffer = [0; 4096];
            let count = timeout(PATIENCE, socket.read(&mut buffer))
                .await
                .expect("no answer")
                .unwrap();
            assert_ne!(
                count,
                0,
                "closed without an answer: {:?}",
                String::from_utf8_lossy(&raw)
            );
            raw.extend_from_slice(&buffer[..count]);
            if let Some(end) = raw.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
        };
        let head = String::from_utf8(raw[..end].to_vec()).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<_> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        let chunked = headers.iter().any(|(name, _)| name == "transfer-encoding");
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.map_or(0, |(_, value)| value.parse().unwrap());
        let mut answer = Answer {
            socket,
            status,
            headers,
            body: Vec::new(),
            raw: raw[end + 4..].iter().copied().collect(),
            left: (!chunked).then_some(length),
            ended: false,
        };
        answer.unframe();
        answer
    }

    pub async fn post_with(&self, headers: &[(&str, &str)], body: &Value) -> Answer {
        let mut all = vec![("accept", BOTH), ("content-type", "application/json")];
        all.extend_from_slice(headers);
        self.send("POST", "/mcp", &all, body.to_string().as_bytes()).await
    }

    pub async fn post(&self, session: &str, body: Value) -> Answer {
        self.post_with(&[("mcp-session-id", session)], &body).await
    }

    pub async fn listen(&self, session: &str, last: Option<&str>) -> Answer {
        let mut headers = vec![("accept", "text/event-stream"), ("mcp-session-id", session)];
        headers.extend(last.map(|last| ("last-event-id", last)));
        self.send("GET", "/mcp", &headers, b"").await
    }

    /// Begins a session of this revision.
    pub async fn begin(&self, revision: &str) -> String {
        let mut answer = self.post_with(&[], &initialize(revision)).await;
        assert_eq!(answer.status, 200);
        let session = answer.session();
        assert_eq!(session.len(), 32);
        answer.whole().await;
        session
    }
}

pub fn initialize(revision: &str) -> Value {
    request(0, "initialize", json!({"protocolVersion": revision}))
}

pub fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub fn numbers(events: &[Value]) -> Vec<u64> {
    events
        .iter()
        .filter_map(|event| event["params"]["number"].as_u64())
        .collect()
}

pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what}");
}
