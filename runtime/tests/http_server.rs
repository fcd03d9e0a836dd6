//! The server of Streamable HTTP, over real sockets, with an engine that only echoes.
#![cfg(feature = "http-server")]

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::RequestId;
use mcp_runtime::transport::http::server::{
    HttpServer, MemoryStore, SessionInfo, SessionRecord, SessionStore, StoreFuture, router,
};
use mcp_runtime::transport::{ChannelTransport, Incoming, Outgoing, Purpose, Receiver, Sender, Transport};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const BOTH: &str = "application/json, text/event-stream";
const PATIENCE: Duration = Duration::from_secs(20);

/// The revision with batches, and one with the version header.
fn with(fact: impl Fn(Revision) -> bool) -> &'static str {
    Revision::ALL
        .into_iter()
        .find(|revision| fact(*revision))
        .unwrap()
        .as_str()
}

fn batching() -> &'static str {
    with(|revision| revision.facts().batches)
}

fn latest() -> &'static str {
    Revision::LATEST.as_str()
}

/// What a test can see of the engines.
#[derive(Debug, Default, Clone)]
struct Seen {
    started: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
    sent: Arc<AtomicUsize>,
}

/// Answers as a server would that knows these methods only.
async fn engine(transport: ChannelTransport, seen: Seen) {
    let (sender, mut receiver) = transport.split();
    let sender = Arc::new(sender);
    while let Ok(Some(Incoming::Message(bytes))) = receiver.receive().await {
        let whole: Value = serde_json::from_slice(&bytes).unwrap();
        if let Value::Array(messages) = whole {
            let requests: Vec<Value> = messages
                .into_iter()
                .filter(|message| message.get("id").is_some())
                .collect();
            let ids: Vec<RequestId> = requests.iter().map(id_of).collect();
            let answers: Vec<Value> = requests.iter().map(echo).collect();
            let message = outgoing(&Value::from(answers), Purpose::Answer(ids));
            sender.send(message).await.unwrap();
            continue;
        }
        if whole["method"] == "die" {
            break;
        }
        if whole.get("id").is_some() && whole.get("method").is_some() {
            tokio::spawn(answer(sender.clone(), whole, seen.clone()));
        }
    }
    seen.ended.fetch_add(1, Ordering::SeqCst);
}

async fn answer(sender: Arc<impl Sender>, request: Value, seen: Seen) {
    let id = id_of(&request);
    let params = &request["params"];
    match request["method"].as_str().unwrap() {
        "never" => return,
        "wait" => tokio::time::sleep(Duration::from_millis(params["ms"].as_u64().unwrap())).await,
        // `count` messages of `size` bytes, on the request's stream or on the session's.
        "count" => {
            for number in 0..params["count"].as_u64().unwrap() {
                let padding = "x".repeat(params["size"].as_u64().unwrap_or(0) as usize);
                let params = json!({"number": number, "padding": padding});
                let note = json!({"jsonrpc": "2.0", "method": "note", "params": params});
                let own = request["params"]["own"] == true;
                let purpose = if own { Purpose::Own } else { Purpose::During(id.clone()) };
                if sender.send(outgoing(&note, purpose)).await.is_err() {
                    return;
                }
                seen.sent.fetch_add(1, Ordering::SeqCst);
                if let Some(pause) = request["params"]["pause"].as_u64() {
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                }
            }
        }
        _ => {}
    }
    let _ = sender.send(outgoing(&echo(&request), Purpose::Answer(vec![id]))).await;
}

fn echo(request: &Value) -> Value {
    let id = &request["id"];
    match request["method"].as_str() {
        Some("initialize") => {
            let asked = request["params"]["protocolVersion"].as_str().unwrap_or_default();
            if asked == "none" {
                return json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "no"}});
            }
            json!({"jsonrpc": "2.0", "id": id, "result": {"protocolVersion": asked}})
        }
        Some("ping") => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
        _ => json!({"jsonrpc": "2.0", "id": id, "result": request["params"]}),
    }
}

fn id_of(message: &Value) -> RequestId {
    serde_json::from_value(message["id"].clone()).unwrap()
}

fn outgoing(message: &Value, purpose: Purpose) -> Outgoing {
    Outgoing {
        json: message.to_string().into_bytes(),
        purpose,
    }
}

/// A server on a port of its own.
struct TestServer {
    address: SocketAddr,
    seen: Seen,
}

async fn serve(config: HttpServer) -> TestServer {
    let seen = Seen::default();
    let for_engines = seen.clone();
    let app = router(config, move |transport: ChannelTransport, _: SessionInfo| {
        for_engines.started.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(engine(transport, for_engines.clone()));
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    TestServer { address, seen }
}

/// A response, whose body may not have ended.
struct Answer {
    socket: TcpStream,
    status: u16,
    headers: Vec<(String, String)>,
    /// What of the body came, without its framing.
    body: Vec<u8>,
    raw: VecDeque<u8>,
    /// Bytes of the body still to come, if that was said.
    left: Option<usize>,
    ended: bool,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    fn session(&self) -> String {
        self.header("mcp-session-id").expect("a session id").to_owned()
    }

    async fn read(&mut self) {
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
        // Chunked: each has its length before it.
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

    async fn whole(&mut self) -> String {
        while !self.ended {
            self.read().await;
        }
        String::from_utf8(self.body.clone()).unwrap()
    }

    async fn json(&mut self) -> Value {
        let body = self.whole().await;
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body:?}"))
    }

    /// The next event that has data: its id and its data. `None` once the stream has ended.
    async fn event(&mut self) -> Option<(String, Value)> {
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

    async fn events(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some((_, data)) = self.event().await {
            events.push(data);
        }
        events
    }
}

impl TestServer {
    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
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

    async fn post_with(&self, headers: &[(&str, &str)], body: &Value) -> Answer {
        let mut all = vec![("accept", BOTH), ("content-type", "application/json")];
        all.extend_from_slice(headers);
        self.send("POST", "/mcp", &all, body.to_string().as_bytes()).await
    }

    async fn post(&self, session: &str, body: Value) -> Answer {
        self.post_with(&[("mcp-session-id", session)], &body).await
    }

    async fn listen(&self, session: &str, last: Option<&str>) -> Answer {
        let mut headers = vec![("accept", "text/event-stream"), ("mcp-session-id", session)];
        headers.extend(last.map(|last| ("last-event-id", last)));
        self.send("GET", "/mcp", &headers, b"").await
    }

    /// Begins a session of this revision.
    async fn begin(&self, revision: &str) -> String {
        let mut answer = self.post_with(&[], &initialize(revision)).await;
        assert_eq!(answer.status, 200);
        let session = answer.session();
        assert_eq!(session.len(), 32);
        answer.whole().await;
        session
    }
}

fn initialize(revision: &str) -> Value {
    request(0, "initialize", json!({"protocolVersion": revision}))
}

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn numbers(events: &[Value]) -> Vec<u64> {
    events
        .iter()
        .filter_map(|event| event["params"]["number"].as_u64())
        .collect()
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what}");
}

#[tokio::test]
async fn a_session_begins_answers_and_ends() {
    let server = serve(HttpServer::new()).await;
    let mut first = server.post_with(&[], &initialize(latest())).await;
    assert_eq!(first.header("content-type"), Some("text/event-stream"));
    let opening = first.whole().await;
    assert!(
        opening.starts_with("id: ") && opening.contains("\nretry: 1000\ndata:\n\n"),
        "{opening}"
    );
    let session = first.session();

    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let mut accepted = server.post(&session, note).await;
    assert_eq!((accepted.status, accepted.whole().await.as_str()), (202, ""));
    let response = json!({"jsonrpc": "2.0", "id": 5, "result": {}});
    assert_eq!(server.post(&session, response).await.status, 202);

    let mut ping = server.post(&session, request(1, "ping", json!({}))).await;
    assert_eq!(ping.events().await, [json!({"jsonrpc": "2.0", "id": 1, "result": {}})]);

    let headers = [("mcp-session-id", session.as_str())];
    assert_eq!(server.send("DELETE", "/mcp", &headers, b"").await.status, 204);
    assert_eq!(server.post(&session, request(2, "ping", json!({}))).await.status, 404);
    assert_eq!(server.send("DELETE", "/mcp", &headers, b"").await.status, 404);
    until("the engine hears of the end", || {
        server.seen.ended.load(Ordering::SeqCst) == 1
    })
    .await;
}

#[tokio::test]
async fn a_session_id_is_required_and_compared_in_whole() {
    let server = serve(HttpServer::new()).await;
    let session = server.begin(latest()).await;
    let ping = request(1, "ping", json!({}));
    assert_eq!(server.post_with(&[], &ping).await.status, 400);
    assert_eq!(
        server
            .send("GET", "/mcp", &[("accept", "text/event-stream")], b"")
            .await
            .status,
        400
    );
    assert_eq!(server.send("DELETE", "/mcp", &[], b"").await.status, 400);
    for id in [
        "",
        &session[..31],
        &format!("{session}0"),
        &session.to_uppercase(),
        "unknown",
    ] {
        assert_eq!(server.post(id, ping.clone()).await.status, 404, "{id}");
        assert_eq!(server.listen(id, None).await.status, 404, "{id}");
    }
    let twice = [
        ("mcp-session-id", session.as_str()),
        ("mcp-session-id", session.as_str()),
    ];
    assert_eq!(server.post_with(&twice, &ping).await.status, 400);
}

#[tokio::test]
async fn initialize_that_fails_begins_no_session() {
    let server = serve(HttpServer::new()).await;
    let mut answer = server.post_with(&[], &initialize("none")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("mcp-session-id"), None);
    assert_eq!(answer.events().await[0]["error"]["code"], -32602);
    until("the engine is let go", || server.seen.ended.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test]
async fn what_is_no_message_is_refused() {
    let server = serve(HttpServer::new().max_body(1000)).await;
    let session = server.begin(latest()).await;
    let json_type = ("content-type", "application/json");
    let id = ("mcp-session-id", session.as_str());
    for (body, code) in [
        (&b"{"[..], -32700),
        (b"", -32700),
        (b"{\"a\": \"\xff\"}", -32700),
        (b"1", -32600),
        (b"{}", -32600),
        (b"[]", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", -32600),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
    ] {
        let mut answer = server
            .send("POST", "/mcp", &[("accept", BOTH), json_type, id], body)
            .await;
        assert_eq!(answer.status, 400, "{body:?}");
        let error = answer.json().await;
        assert_eq!(error["error"]["code"], code, "{body:?}");
        assert_eq!(error.get("id"), None);
    }
    let long = request(1, "echo", json!({"text": "x".repeat(2000)}));
    assert_eq!(server.post(&session, long).await.status, 413);
    let ping = request(1, "ping", json!({})).to_string();
    for accept in [
        "application/json",
        "text/event-stream",
        "text/*",
        "application/json, text/event-stream;q=0",
    ] {
        let answer = server
            .send("POST", "/mcp", &[("accept", accept), json_type, id], ping.as_bytes())
            .await;
        assert_eq!(answer.status, 406, "{accept}");
    }
    assert_eq!(
        server
            .send("POST", "/mcp", &[json_type, id], ping.as_bytes())
            .await
            .status,
        406
    );
    for (accept, content_type) in [
        ("*/*", "application/json; charset=utf-8"),
        ("text/*,application/*", "Application/JSON"),
    ] {
        let headers = [("accept", accept), ("content-type", content_type), id];
        assert_eq!(
            server.send("POST", "/mcp", &headers, ping.as_bytes()).await.status,
            200,
            "{accept}"
        );
    }
    for headers in [
        &[("accept", BOTH), ("content-type", "text/plain"), id][..],
        &[("accept", BOTH), id],
    ] {
        assert_eq!(server.send("POST", "/mcp", headers, ping.as_bytes()).await.status, 415);
    }
    assert_eq!(
        server
            .send("GET", "/mcp", &[("accept", "application/json"), id], b"")
            .await
            .status,
        406
    );
    for method in ["PUT", "PATCH", "HEAD"] {
        let answer = server.send(method, "/mcp", &[id], b"").await;
        assert_eq!(answer.status, 405);
        assert_eq!(answer.header("allow"), Some("GET, POST, DELETE"));
    }
}

#[tokio::test]
async fn other_origins_and_hosts_are_refused() {
    let server = serve(
        HttpServer::new()
            .allow_host("tools.example")
            .allow_origin("https://app.example"),
    )
    .await;
    for (name, value, status) in [
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("origin", "http://localhost.evil.example", 403),
        ("origin", "http://localhost:3000", 200),
        ("origin", "https://app.example", 200),
        ("host", "evil.example", 403),
        ("host", "localhost.evil.example:80", 403),
        ("host", "localhost:1234", 200),
        ("host", "[::1]:80", 200),
        ("host", "tools.example", 200),
    ] {
        let answer = server.post_with(&[(name, value)], &initialize(latest())).await;
        assert_eq!(answer.status, status, "{name}: {value}");
        let stream = server.send("GET", "/sse", &[(name, value)], b"").await;
        assert_eq!(stream.status, status, "{name}: {value}");
    }
}

#[tokio::test]
async fn the_revision_in_the_header_must_be_supported() {
    let server = serve(HttpServer::new()).await;
    let ping = request(1, "ping", json!({}));
    let named = server.begin(latest()).await;
    for (version, status) in [(latest(), 200), ("1999-01-01", 400), ("", 400)] {
        let headers = [("mcp-session-id", named.as_str()), ("mcp-protocol-version", version)];
        assert_eq!(server.post_with(&headers, &ping).await.status, status, "{version}");
    }
    assert_eq!(
        server.post(&named, ping.clone()).await.status,
        200,
        "a session knows its revision"
    );
    // Where the revision has no such header, it says nothing.
    let silent = server
        .begin(with(|revision| {
            !revision.facts().version_header && revision.facts().sessions
        }))
        .await;
    let headers = [
        ("mcp-session-id", silent.as_str()),
        ("mcp-protocol-version", "1999-01-01"),
    ];
    assert_eq!(server.post_with(&headers, &ping).await.status, 200);

    let only_latest = serve(HttpServer::new().revisions([Revision::LATEST])).await;
    let session = only_latest.begin(latest()).await;
    let headers = [
        ("mcp-session-id", session.as_str()),
        ("mcp-protocol-version", batching()),
    ];
    assert_eq!(only_latest.post_with(&headers, &ping).await.status, 400);
}

#[tokio::test]
async fn batches_are_taken_where_the_revision_has_them() {
    let server = serve(HttpServer::new()).await;
    let batch = json!([
        request(1, "echo", json!({"a": 1})),
        {"jsonrpc": "2.0", "method": "note"},
        request(2, "echo", json!({"b": 2})),
    ]);
    let session = server.begin(batching()).await;
    let events = server.post(&session, batch.clone()).await.events().await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0][1]["result"], json!({"b": 2}));
    let notes = json!([{"jsonrpc": "2.0", "method": "note"}]);
    assert_eq!(server.post(&session, notes).await.status, 202);
    let twice = json!([request(1, "ping", json!({})), request(1, "ping", json!({}))]);
    assert_eq!(server.post(&session, twice).await.status, 400);
    assert_eq!(
        server.post_with(&[], &json!([initialize(batching())])).await.status,
        400
    );
    let other = server.begin(latest()).await;
    assert_eq!(server.post(&other, batch).await.status, 400);
}

#[tokio::test]
async fn an_id_in_flight_cannot_be_used_again() {
    let server = serve(HttpServer::new()).await;
    let session = server.begin(latest()).await;
    let mut waiting = server.post(&session, request(1, "wait", json!({"ms": 500}))).await;
    assert_eq!(server.post(&session, request(1, "ping", json!({}))).await.status, 400);
    assert_eq!(waiting.events().await.len(), 1);
    assert_eq!(server.post(&session, request(1, "ping", json!({}))).await.status, 200);
}

#[tokio::test]
async fn a_cut_stream_is_resumed_with_nothing_lost_or_doubled() {
    let server = serve(HttpServer::new()).await;
    let session = server.begin(latest()).await;
    let params = json!({"count": 200, "pause": 2});
    let mut stream = server.post(&session, request(1, "count", params)).await;
    let (mut seen, mut last) = (Vec::new(), String::new());
    // Each connection is cut after a few events, in the middle of whatever is on its way.
    for round in 0..10 {
        for _ in 0..=round {
            let (id, event) = stream.event().await.expect("it goes on");
            seen.push(event);
            last = id;
        }
        drop(stream);
        stream = server.listen(&session, Some(&last)).await;
        assert_eq!(stream.status, 200);
    }
    seen.extend(stream.events().await);
    assert_eq!(numbers(&seen), (0..200).collect::<Vec<_>>());
    assert_eq!(seen.last().unwrap()["id"], 1, "the answer is the last");
    // Even a stream that is done can be read once more.
    let again = server.listen(&session, Some(&last)).await.events().await;
    assert_eq!(again.last().unwrap()["id"], 1);
}

#[tokio::test]
async fn a_stream_is_resumed_from_before_its_first_event() {
    let server = serve(HttpServer::new()).await;
    let session = server.begin(latest()).await;
    let mut stream = server.post(&session, request(1, "wait", json!({"ms": 300}))).await;
    while !stream.body.ends_with(b"\n\n") {
        stream.read().await;
    }
    let opening = String::from_utf8(stream.body.clone()).unwrap();
    let id = opening
        .lines()
        .find_map(|line| line.strip_prefix("id: "))
        .unwrap()
        .to_owned();
    drop(stream);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let events = server.listen(&session, Some(&id)).await.events().await;
    assert_eq!(events.len(), 1);
    for id in [
        "nonsense",
        "1-2",
        "99999999-1-1",
        &id.replacen("-2-", "-77-", 1),
        &format!("{}-9-9", id.split('-').next().unwrap()),
    ] {
        assert_eq!(server.listen(&session, Some(id)).await.status, 400, "{id}");
    }
}

#[tokio::test]
async fn what_the_server_says_of_its_own_accord_is_heard_on_the_session_s_stream() {
    let server = serve(HttpServer::new()).await;
    let session = server.begin(latest()).await;
    // Before anybody listens, it is kept.
    let alone = server
        .post(&session, request(1, "count", json!({"count": 3, "own": true})))
        .await
        .events()
        .await;
    assert_eq!(alone.len(), 1, "only the answer is there");
    let mut stream = server.listen(&session, None).await;
    let mut seen = Vec::new();
    let mut last = String::new();
    for _ in 0..2 {
        let (id, event) = stream.event().await.unwrap();
        seen.push(event);
        last = id;
    }
    drop(stream);
    server
        .post(&session, request(2, "count", json!({"count": 2, "own": true})))
        .await
        .events()
        .await;
    let mut stream = server.listen(&session, Some(&last)).await;
    for _ in 0..3 {
        seen.push(stream.event().await.unwrap().1);
    }
    assert_eq!(numbers(&seen), [0, 1, 2, 0, 1]);
    // Whoever comes last is the one who listens.
    let mut second = server.listen(&session, None).await;
    assert_eq!(stream.events().await, [Value::Null; 0]);
    server
        .post(&session, request(3, "count", json!({"count": 1, "own": true})))
        .await
        .events()
        .await;
    assert_eq!(numbers(&[second.event().await.unwrap().1]), [0]);
}

#[tokio::test]
async fn clients_before_the_hub_get_no_event_without_data() {
    let server = serve(HttpServer::new()).await;
    let mut first = server.post_with(&[], &initialize(batching())).await;
    let body = first.whole().await;
    assert!(body.starts_with("retry: 1000\nevent: message\nid: "), "{body}");
}

#[tokio::test]
async fn a_slow_reader_makes_the_session_wait() {
    let server = serve(HttpServer::new().replay(16, 64 << 10).capacity(4)).await;
    let session = server.begin(latest()).await;
    let params = json!({"count": 4000, "size": 10_000});
    let mut stream = server.post(&session, request(1, "count", params)).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let early = server.seen.sent.load(Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let sent = server.seen.sent.load(Ordering::SeqCst);
    assert!(
        sent < 2000,
        "{sent} of 4000 messages were taken, and nobody has read one"
    );
    assert!(sent - early < 200, "it goes on: {early}, {sent}");
    // Once it reads, it gets everything.
    assert_eq!(numbers(&stream.events().await), (0..4000).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_reader_that_is_gone_costs_a_buffer_and_keeps_its_answer() {
    let config = HttpServer::new().replay(16, 64 << 10).stall(Duration::from_millis(200));
    let server = serve(config).await;
    let session = server.begin(latest()).await;
    let mut stream = server
        .post(&session, request(1, "count", json!({"count": 500, "pause": 1})))
        .await;
    let (last, _) = stream.event().await.unwrap();
    drop(stream);
    until("nobody waits for ever", || {
        server.seen.sent.load(Ordering::SeqCst) == 500
    })
    .await;
    let ping = server
        .post(&session, request(2, "ping", json!({})))
        .await
        .events()
        .await;
    assert_eq!(ping.len(), 1, "others go on");
    let rest = server.listen(&session, Some(&last)).await.events().await;
    assert!(rest.len() <= 17, "{}", rest.len());
    assert_eq!(rest.last().unwrap()["id"], 1);
}

#[tokio::test]
async fn a_cancelled_request_needs_no_answer() {
    let server = serve(HttpServer::new()).await;
    let session = server.begin(latest()).await;
    let mut stream = server.post(&session, request(1, "never", json!({}))).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(server.post(&session, cancel).await.status, 202);
    assert!(stream.events().await.is_empty());
    assert_eq!(server.post(&session, request(1, "ping", json!({}))).await.status, 200);
}

#[tokio::test]
async fn json_only_answers_are_one_value() {
    let server = serve(HttpServer::new().json_only(true)).await;
    let headers = [("accept", "application/json"), ("content-type", "application/json")];
    let body = initialize(batching()).to_string();
    let mut first = server.send("POST", "/mcp", &headers, body.as_bytes()).await;
    assert_eq!(first.header("content-type"), Some("application/json"));
    assert_eq!(first.json().await["result"]["protocolVersion"], batching());
    let session = first.session();
    let mut listening = server.listen(&session, None).await;
    let mut answer = server.post(&session, request(1, "count", json!({"count": 2}))).await;
    assert_eq!(answer.json().await["id"], 1);
    assert_eq!(
        numbers(&[listening.event().await.unwrap().1]),
        [0],
        "what has no place in the answer is said here"
    );
    let batch = json!([request(1, "echo", json!(1)), request(2, "echo", json!(2))]);
    let answers = server.post(&session, batch).await.json().await;
    assert_eq!((&answers[0]["result"], &answers[1]["result"]), (&json!(1), &json!(2)));
}

#[tokio::test]
async fn without_sessions_every_request_stands_alone() {
    let server = serve(HttpServer::new().stateless(true)).await;
    let mut first = server.post_with(&[], &initialize(latest())).await;
    assert_eq!(first.header("mcp-session-id"), None);
    assert_eq!(first.json().await["result"]["protocolVersion"], latest());
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(server.post_with(&[], &note).await.status, 202);
    let echo = request(7, "echo", json!({"a": 1}));
    let headers = [("mcp-protocol-version", latest())];
    assert_eq!(
        server.post_with(&headers, &echo).await.json().await["result"],
        json!({"a": 1})
    );
    assert_eq!(
        server.post_with(&[("mcp-protocol-version", "x")], &echo).await.status,
        400
    );
    // Who names no revision speaks the one that has batches.
    let batch = json!([request(1, "echo", json!(1))]);
    assert_eq!(server.post_with(&[], &batch).await.json().await[0]["result"], 1);
    assert_eq!(server.post_with(&headers, &batch).await.status, 400);
    for method in ["GET", "DELETE"] {
        let answer = server.send(method, "/mcp", &[("accept", BOTH)], b"").await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
    }
    until("no engine stays", || {
        server.seen.started.load(Ordering::SeqCst) == server.seen.ended.load(Ordering::SeqCst)
    })
    .await;
}

#[tokio::test]
async fn the_older_transport_answers_on_its_one_stream() {
    let server = serve(HttpServer::new()).await;
    let mut stream = server
        .send("GET", "/sse", &[("accept", "text/event-stream")], b"")
        .await;
    assert_eq!(stream.status, 200);
    while !stream.body.ends_with(b"\n\n") {
        stream.read().await;
    }
    assert!(stream.body.starts_with(b"event: endpoint\ndata: /messages?sessionId="));
    let (_, endpoint) = stream.event().await.unwrap();
    let endpoint = endpoint.as_str().unwrap().to_owned();
    let json_type = [("content-type", "application/json")];
    for message in [
        initialize(Revision::ALL[0].as_str()),
        request(1, "count", json!({"count": 2})),
    ] {
        let answer = server
            .send("POST", &endpoint, &json_type, message.to_string().as_bytes())
            .await;
        assert_eq!(answer.status, 202);
    }
    let mut events = Vec::new();
    for _ in 0..4 {
        events.push(stream.event().await.unwrap().1);
    }
    assert_eq!(events[0]["id"], 0);
    assert_eq!(numbers(&events), [0, 1]);
    assert_eq!(events[3]["id"], 1);
    let ping = request(2, "ping", json!({})).to_string();
    assert_eq!(
        server
            .send("POST", "/messages?sessionId=x", &json_type, ping.as_bytes())
            .await
            .status,
        404
    );
    assert_eq!(
        server
            .send("POST", "/messages", &json_type, ping.as_bytes())
            .await
            .status,
        400
    );
    assert_eq!(server.send("POST", &endpoint, &json_type, b"{").await.status, 400);
    assert_eq!(server.send("POST", "/sse", &json_type, b"{}").await.status, 405);
    // The two transports don't share sessions.
    let id = endpoint.rsplit('=').next().unwrap();
    assert_eq!(server.post(id, request(2, "ping", json!({}))).await.status, 404);
    drop(stream);
    until("the session ends with its connection", || {
        server.seen.ended.load(Ordering::SeqCst) == 1
    })
    .await;
    assert_eq!(
        server.send("POST", &endpoint, &json_type, ping.as_bytes()).await.status,
        404
    );
}

#[tokio::test]
async fn a_session_expires_unless_somebody_listens() {
    let server = serve(HttpServer::new().expiry(Duration::from_millis(400))).await;
    let (left, heard) = (server.begin(latest()).await, server.begin(latest()).await);
    let _listening = server.listen(&heard, None).await;
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!(server.post(&left, request(1, "ping", json!({}))).await.status, 404);
    assert_eq!(server.post(&heard, request(1, "ping", json!({}))).await.status, 200);
    assert_eq!(server.seen.ended.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_session_ends_with_its_engine() {
    let server = serve(HttpServer::new()).await;
    let session = server.begin(latest()).await;
    let mut listening = server.listen(&session, None).await;
    let die = json!({"jsonrpc": "2.0", "method": "die"});
    assert_eq!(server.post(&session, die).await.status, 202);
    assert!(listening.events().await.is_empty(), "streams end");
    let mut status = 0;
    for _ in 0..100 {
        status = server.post(&session, request(1, "ping", json!({}))).await.status;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(status, 404);
}

#[tokio::test]
async fn there_are_no_more_sessions_and_requests_than_allowed() {
    let server = serve(HttpServer::new().max_sessions(2).max_in_flight(2)).await;
    let (one, _two) = (server.begin(latest()).await, server.begin(latest()).await);
    assert_eq!(server.post_with(&[], &initialize(latest())).await.status, 503);
    assert_eq!(server.send("GET", "/sse", &[], b"").await.status, 503);
    let _first = server.post(&one, request(1, "never", json!({}))).await;
    let _second = server.post(&one, request(2, "never", json!({}))).await;
    assert_eq!(server.post(&one, request(3, "ping", json!({}))).await.status, 503);
    server.send("DELETE", "/mcp", &[("mcp-session-id", &one)], b"").await;
    until("the engine ends", || server.seen.ended.load(Ordering::SeqCst) == 1).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    server.begin(latest()).await;
}

/// A store that two servers share.
#[derive(Debug, Clone, Default)]
struct SharedStore(Arc<MemoryStore>);

impl SessionStore for SharedStore {
    fn create<'a>(&'a self, id: &'a str, record: SessionRecord, expiry: Duration) -> StoreFuture<'a, ()> {
        self.0.create(id, record, expiry)
    }

    fn touch<'a>(&'a self, id: &'a str, expiry: Duration) -> StoreFuture<'a, Option<SessionRecord>> {
        self.0.touch(id, expiry)
    }

    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        self.0.remove(id)
    }
}

#[tokio::test]
async fn a_session_goes_on_at_a_server_that_shares_the_store() {
    let store = SharedStore::default();
    let one = serve(HttpServer::new().store(store.clone())).await;
    let other = serve(HttpServer::new().store(store)).await;
    let session = one.begin(batching()).await;
    let (first, second) = tokio::join!(
        other.post(&session, request(0, "echo", json!({"a": 1}))),
        other.post(&session, json!([request(1, "echo", json!({"a": 2}))])),
    );
    for mut answer in [first, second] {
        assert_eq!(answer.events().await.len(), 1);
    }
    until("one engine stays", || {
        other.seen.started.load(Ordering::SeqCst) == other.seen.ended.load(Ordering::SeqCst) + 1
    })
    .await;
    one.send("DELETE", "/mcp", &[("mcp-session-id", &session)], b"").await;
    assert_eq!(other.post(&session, request(1, "ping", json!({}))).await.status, 404);
    until("the other engine ends too", || {
        other.seen.started.load(Ordering::SeqCst) == other.seen.ended.load(Ordering::SeqCst)
    })
    .await;
}

#[tokio::test]
async fn all_streams_end_when_the_server_shuts_down() {
    let token = tokio_util::sync::CancellationToken::new();
    let server = serve(HttpServer::new().shutdown(token.clone())).await;
    let session = server.begin(latest()).await;
    let mut listening = server.listen(&session, None).await;
    token.cancel();
    assert!(listening.events().await.is_empty());
    until("the engine ends", || server.seen.ended.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_sessions_come_and_go() {
    let server = serve(HttpServer::new().max_sessions(1000)).await;
    let mut sessions = Vec::new();
    for _ in 0..1000 {
        sessions.push(server.begin(latest()).await);
    }
    assert_eq!(server.post_with(&[], &initialize(latest())).await.status, 503);
    for session in &sessions {
        let ended = server.send("DELETE", "/mcp", &[("mcp-session-id", session)], b"").await;
        assert_eq!(ended.status, 204);
    }
    until("every engine ends", || server.seen.ended.load(Ordering::SeqCst) == 1000).await;
    server.begin(latest()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_requests_are_in_flight_at_once() {
    let server = Arc::new(serve(HttpServer::new()).await);
    let session = server.begin(latest()).await;
    let mut streams = Vec::new();
    for id in 0..1000 {
        streams.push(
            server
                .post(&session, request(id, "wait", json!({"ms": 1000, "id": id})))
                .await,
        );
    }
    for (id, stream) in streams.iter_mut().enumerate() {
        let events = stream.events().await;
        assert_eq!((events.len(), &events[0]["result"]["id"]), (1, &json!(id)));
    }
}
