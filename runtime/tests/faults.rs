//! Peers that misbehave, die or are slow: what each side does about them.
#![cfg(feature = "stdio")]

mod common;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_runtime::transport::stdio::{LineLimits, LineTransport};
use mcp_runtime::transport::{ChannelReceiver, ChannelSender, Outgoing, Purpose, Sender, Transport, channel};
use mcp_runtime::{
    CallClient, CallError, CallServer, ClientHandler, ClientSession, ClientSide, Context, ErrorObject, Limits, Options,
    Revision, ServerHandler, ServerSession, ServerSide, connect, hub, serve,
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex};
use tokio::sync::Barrier;
use tokio::time::{Instant, timeout};

use crate::common::spoken;

/// Far longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(3600);

/// What the tools of [`Tools`] have done.
#[derive(Debug, Default)]
struct Log {
    begun: AtomicUsize,
    dropped: AtomicUsize,
    done: AtomicUsize,
}

/// A server whose tools do what a test wants.
#[derive(Clone)]
struct Tools {
    log: Arc<Log>,
    barrier: Arc<Barrier>,
}

impl Tools {
    fn new(barrier: usize) -> Self {
        let log = Arc::default();
        let barrier = Arc::new(Barrier::new(barrier));
        Self { log, barrier }
    }
}

struct CountDrop<'a>(&'a AtomicUsize);

impl Drop for CountDrop<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl ServerHandler<Context<ServerSide>> for Tools {
    async fn call_tool(
        &self,
        params: hub::CallToolRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::CallToolResult, ErrorObject> {
        self.log.begun.fetch_add(1, Ordering::SeqCst);
        let _dropped = CountDrop(&self.log.dropped);
        let mut text = "done".to_owned();
        match params.name.as_str() {
            "panic" => panic!("on purpose"),
            "hang" => std::future::pending().await,
            "barrier" => {
                self.barrier.wait().await;
            }
            "yield" => tokio::task::yield_now().await,
            "second" => tokio::time::sleep(Duration::from_secs(1)).await,
            "progress" => context.progress(1.0, None, None).await.expect("progress is told"),
            "ask" => {
                text = match context.peer().list_roots(None).await {
                    Ok(roots) => format!("{} roots", roots.roots.len()),
                    Err(error) => error.to_string(),
                }
            }
            _ => {}
        }
        self.log.done.fetch_add(1, Ordering::SeqCst);
        Ok(hub::CallToolResult::new(vec![hub::TextContent::new(text).into()]))
    }

    async fn on_roots_list_changed(&self, _: Option<hub::NotificationParams>, _: &Context<ServerSide>) {
        self.log.begun.fetch_add(1, Ordering::SeqCst);
        std::future::pending().await
    }
}

/// A client that offers nothing.
struct Nothing;

impl ClientHandler<Context<ClientSide>> for Nothing {}

/// A peer that sends and reads JSON as it likes.
struct Raw {
    sender: ChannelSender,
    receiver: ChannelReceiver,
}

impl Raw {
    fn new(transport: impl Transport<Sender = ChannelSender, Receiver = ChannelReceiver>) -> Self {
        let (sender, receiver) = transport.split();
        Self { sender, receiver }
    }

    async fn send(&self, message: &Value) {
        self.send_bytes(message.to_string().as_bytes()).await;
    }

    async fn send_bytes(&self, json: &[u8]) {
        let message = Outgoing {
            json: json.to_vec(),
            purpose: Purpose::Unsolicited,
        };
        self.sender.send(message).await.expect("the session goes on");
    }

    /// What comes next; nothing once the session has ended.
    async fn read(&mut self) -> Option<Value> {
        let message = timeout(PATIENCE, self.receiver.receive_outgoing())
            .await
            .expect("something comes in time")?;
        Some(serde_json::from_slice(&message.json).expect("what we write is JSON"))
    }

    async fn next(&mut self) -> Value {
        self.read().await.expect("the session goes on")
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        self.next().await
    }

    /// Shows that nothing else was sent before the answer to a ping.
    async fn is_quiet(&mut self) {
        let answer = self.ask(&request("quiet", "ping", json!({}))).await;
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": "quiet", "result": {}}));
    }
}

fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let id: Value = id.into();
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn call(id: impl Into<Value>, tool: &str) -> Value {
    request(id, "tools/call", json!({"name": tool}))
}

fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

fn initialize(id: impl Into<Value>, revision: Revision, capabilities: Value) -> Value {
    let info = json!({"name": "raw", "version": "1"});
    let params = json!({"protocolVersion": revision.as_str(), "capabilities": capabilities, "clientInfo": info});
    request(id, "initialize", params)
}

fn code(answer: &Value) -> Option<i64> {
    answer["error"]["code"].as_i64()
}

fn text(answer: &Value) -> Option<&str> {
    answer["result"]["content"][0]["text"].as_str()
}

fn limits(change: impl FnOnce(&mut Limits)) -> Options {
    let mut options = Options::default();
    change(&mut options.limits);
    options
}

/// Every revision may be spoken, be it a draft.
fn any_revision() -> Options {
    Options {
        supported: spoken(),
        ..Options::default()
    }
}

fn serve_over(tools: &Tools, options: Options, transport: impl Transport) -> ServerSession {
    let capabilities = serde_json::from_value(json!({"tools": {}})).expect("capabilities");
    let info = hub::Implementation::new("server", "1");
    serve(tools.clone(), info, capabilities, None, options, transport)
}

/// A server and its raw client, which hasn't said anything yet.
fn unopened(tools: &Tools, options: Options, capacity: usize) -> (ServerSession, Raw) {
    let (ours, theirs) = channel(capacity);
    (serve_over(tools, options, ours), Raw::new(theirs))
}

/// A server and its raw client.
async fn opened(
    tools: &Tools,
    options: Options,
    revision: Revision,
    capabilities: Value,
    capacity: usize,
) -> (ServerSession, Raw) {
    let (session, mut raw) = unopened(tools, options, capacity);
    let welcome = raw.ask(&initialize("init", revision, capabilities)).await;
    assert_eq!(welcome["result"]["protocolVersion"], revision.as_str());
    raw.send(&notification("notifications/initialized", json!({}))).await;
    (session, raw)
}

async fn of_hub(tools: &Tools) -> (ServerSession, Raw) {
    opened(tools, Options::default(), Revision::HUB, json!({}), 16).await
}

/// A client and its raw server.
async fn client(options: Options, capabilities: Value, capacity: usize) -> (ClientSession, Raw) {
    let (ours, theirs) = channel(capacity);
    let mut raw = Raw::new(theirs);
    let info = hub::Implementation::new("client", "1");
    let connecting = connect(Nothing, info, hub::ClientCapabilities::default(), options, ours);
    let welcoming = async {
        let asked = raw.next().await;
        assert_eq!(asked["method"], "initialize");
        raw.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {
            "protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": capabilities,
            "serverInfo": {"name": "raw", "version": "1"},
        }}))
        .await;
        assert_eq!(raw.next().await["method"], "notifications/initialized");
    };
    let (session, ()) = tokio::join!(connecting, welcoming);
    (session.expect("there is a session"), raw)
}

fn tool(name: &str) -> hub::CallToolRequestParams {
    hub::CallToolRequestParams::new(name)
}

/// Waits, without a clock, until something is so.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..10_000_000 {
        if is_so() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("never: {what}");
}

fn alive_tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

// A peer that goes.

#[tokio::test(start_paused = true)]
async fn every_pending_call_ends_at_once_when_the_peer_dies() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 200).await;
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let peer = session.peer().clone();
            tokio::spawn(async move { peer.call_tool(tool("hang")).await })
        })
        .collect();
    for _ in 0..100 {
        assert_eq!(raw.next().await["method"], "tools/call");
    }
    let begun = Instant::now();
    drop(raw);
    for call in calls {
        let ended = call.await.expect("no panic");
        assert!(matches!(ended, Err(CallError::Closed)), "{ended:?}");
    }
    let late = session.peer().call_tool(tool("late")).await;
    assert!(matches!(late, Err(CallError::Closed)), "{late:?}");
    session.ended().await;
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn every_pending_call_ends_when_the_peer_dies_in_the_middle_of_a_message() {
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = tokio::io::split(ours);
    let transport = LineTransport::new(reader, writer, LineLimits::default());
    let info = hub::Implementation::new("client", "1");
    let connecting = tokio::spawn(async {
        connect(
            Nothing,
            info,
            hub::ClientCapabilities::default(),
            Options::default(),
            transport,
        )
        .await
    });
    let mut theirs = BufReader::new(theirs);
    let mut line = String::new();
    theirs.read_line(&mut line).await.expect("a line");
    theirs
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"proto")
        .await
        .expect("written");
    let begun = Instant::now();
    drop(theirs);
    let ended = connecting.await.expect("no panic").expect_err("there is no session");
    assert_eq!(ended.to_string(), "the session has ended");
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn handlers_are_dropped_when_the_peer_dies() {
    let tools = Tools::new(1);
    let (session, raw) = of_hub(&tools).await;
    raw.send(&call(1, "hang")).await;
    raw.send(&notification("notifications/roots/list_changed", json!({})))
        .await;
    until("both are handled", || tools.log.begun.load(Ordering::SeqCst) == 2).await;
    drop(raw);
    session.ended().await;
    until("the handler is dropped", || {
        tools.log.dropped.load(Ordering::SeqCst) == 1
    })
    .await;
    // One that only hears has as long as closing may take.
    tokio::time::sleep(Options::default().limits.closing).await;
    until("no task is left", || alive_tasks() == 0).await;
}

// Bytes that are no messages.

#[tokio::test]
async fn what_is_no_message_is_refused_and_the_session_goes_on() {
    let tools = Tools::new(1);
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = tokio::io::split(ours);
    let limits = LineLimits::default().message_bytes(1000);
    let session = serve_over(&tools, Options::default(), LineTransport::new(reader, writer, limits));
    let (reader, mut writer) = tokio::io::split(theirs);
    let mut lines = BufReader::new(reader).lines();
    let opening = initialize(0, Revision::HUB, json!({})).to_string();
    let good = call(1, "good").to_string();
    let long = "x".repeat(100_000);
    for (bytes, expected) in [
        (opening.as_bytes(), None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\xfe\"}", Some(-32700)),
        (good.as_bytes(), None),
        (long.as_bytes(), Some(-32600)),
        (good.as_bytes(), None),
        (b"{\"jsonrpc\":", Some(-32700)),
        (b"nonsense", Some(-32700)),
        (b"17", Some(-32600)),
        (b"{}", Some(-32600)),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Some(-32600)),
        (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Some(-32600)),
        (
            br#"{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":5}}"#,
            Some(-32600),
        ),
        (br#"{"jsonrpc":"2.0","id":9,"method":5}"#, Some(-32600)),
        (good.as_bytes(), None),
    ] {
        writer.write_all(bytes).await.expect("written");
        writer.write_all(b"\n").await.expect("written");
        let line = lines.next_line().await.expect("readable").expect("the session goes on");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(code(&answer), expected, "{answer}");
    }
    drop((lines, writer));
    session.ended().await;
}

// Ids.

#[tokio::test]
async fn an_answer_to_nothing_is_ignored() {
    let tools = Tools::new(1);
    let (_session, mut raw) = of_hub(&tools).await;
    for id in [json!(1), json!("one"), json!(-5), json!(u64::from(u32::MAX))] {
        raw.send(&json!({"jsonrpc": "2.0", "id": id, "result": {}})).await;
        raw.send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": 1, "message": "no"}}))
            .await;
    }
    raw.is_quiet().await;
}

#[tokio::test]
async fn only_the_first_answer_counts() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 16).await;
    let peer = session.peer().clone();
    let calling = tokio::spawn(async move { peer.call_tool(tool("any")).await });
    let id = raw.next().await["id"].clone();
    let answer =
        |text: &str| json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}});
    raw.send(&answer("first")).await;
    raw.send(&answer("second")).await;
    let result = calling.await.expect("no panic").expect("a result");
    assert!(serde_json::to_string(&result).expect("JSON").contains("first"));
    raw.is_quiet().await;
}

#[tokio::test]
async fn a_malformed_answer_ends_its_call() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 16).await;
    for malformed in [json!({"content": 5}), json!("text"), Value::Null] {
        let peer = session.peer().clone();
        let calling = tokio::spawn(async move { peer.call_tool(tool("any")).await });
        let id = raw.next().await["id"].clone();
        raw.send(&json!({"jsonrpc": "2.0", "id": id, "result": malformed}))
            .await;
        let ended = calling.await.expect("no panic");
        assert!(
            matches!(ended, Err(CallError::InvalidResult(_) | CallError::Peer(_))),
            "{ended:?}"
        );
    }
    raw.is_quiet().await;
}

#[tokio::test]
async fn an_id_in_flight_is_refused_and_may_be_used_again_once_answered() {
    let tools = Tools::new(2);
    let (_session, mut raw) = of_hub(&tools).await;
    raw.send(&call(1, "barrier")).await;
    let refused = raw.ask(&call(1, "any")).await;
    assert_eq!((&refused["id"], code(&refused)), (&json!(1), Some(-32600)));
    // A text is another id than the number that it reads like.
    let answers = [raw.ask(&call("1", "barrier")).await, raw.next().await];
    for answer in &answers {
        assert_eq!(text(answer), Some("done"), "{answer}");
    }
    for _ in 0..100 {
        let answer = raw.ask(&call(1, "any")).await;
        assert_eq!(text(&answer), Some("done"), "{answer}");
    }
}

// Peers that take or send too much.

#[tokio::test(start_paused = true)]
async fn a_client_that_never_reads_is_still_heard_and_costs_a_bounded_amount() {
    let tools = Tools::new(1);
    let options = limits(|limits| {
        (limits.in_flight, limits.waiting) = (4, 4);
        limits.unread_bytes = 32 * 1024;
    });
    let (session, raw) = opened(&tools, options, batching(), json!({}), 1).await;
    let pings = json!([request(1, "ping", json!({})), request(2, "ping", json!({}))]);
    for round in 0..1000 {
        raw.send(&call(round, "any")).await;
        raw.send(&request("p", "ping", json!({}))).await;
        raw.send(&pings).await;
    }
    // The session's own, those with a place, and as many refusals as may be unread.
    assert!(alive_tasks() < 100, "{}", alive_tasks());
    // Closing ends all the same.
    let begun = Instant::now();
    session.close().await;
    assert!(
        begun.elapsed() <= 3 * Limits::default().closing,
        "{:?}",
        begun.elapsed()
    );
    until("no task is left", || alive_tasks() == 0).await;
}

#[tokio::test]
async fn two_peers_that_write_more_than_fits_between_them_do_not_wait_for_each_other() {
    let (server_end, client_end) = channel(1);
    let server = serve_over(&Tools::new(1), Options::default(), server_end);
    let info = hub::Implementation::new("client", "1");
    let client = connect(
        Nothing,
        info,
        hub::ClientCapabilities::default(),
        Options::default(),
        client_end,
    );
    let client = client.await.expect("there is a session");
    let pings = (0..200).map(|_| async {
        let (ours, theirs) = (hub::PingRequest::default(), hub::PingRequest::default());
        let (by_server, by_client) = tokio::join!(server.peer().call(ours.into()), client.peer().call(theirs.into()));
        by_server.expect("the client answers");
        by_client.expect("the server answers");
    });
    let all = futures_util::future::join_all(pings);
    timeout(Duration::from_secs(30), all)
        .await
        .expect("nobody waits for ever");
}

/// A server that asks its client for the roots whenever they change, if it may.
struct Asking {
    heard: Arc<AtomicUsize>,
    may_ask: Arc<tokio::sync::Semaphore>,
}

impl ServerHandler<Context<ServerSide>> for Asking {
    async fn on_roots_list_changed(&self, _: Option<hub::NotificationParams>, context: &Context<ServerSide>) {
        let _permit = self.may_ask.acquire().await;
        context.peer().list_roots(None).await.expect("the client answers");
        self.heard.fetch_add(1, Ordering::SeqCst);
    }
}

async fn asking(
    options: Options,
    may_ask: usize,
) -> (ServerSession, Raw, Arc<AtomicUsize>, Arc<tokio::sync::Semaphore>) {
    let (ours, theirs) = channel(16);
    let (heard, may_ask) = (Arc::default(), Arc::new(tokio::sync::Semaphore::new(may_ask)));
    let handler = Asking {
        heard: Arc::clone(&heard),
        may_ask: Arc::clone(&may_ask),
    };
    let info = hub::Implementation::new("server", "1");
    let session = serve(handler, info, hub::ServerCapabilities::default(), None, options, ours);
    let mut raw = Raw::new(theirs);
    raw.ask(&initialize(
        "init",
        Revision::HUB,
        json!({"roots": {"listChanged": true}}),
    ))
    .await;
    (session, raw, heard, may_ask)
}

/// Answers what [`Asking`] asks, until something else comes.
async fn answer_roots(raw: &mut Raw) -> Value {
    loop {
        let asked = raw.next().await;
        if asked["method"] != "roots/list" {
            return asked;
        }
        raw.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}}))
            .await;
    }
}

#[tokio::test]
async fn a_handler_of_notifications_that_asks_its_peer_does_not_stop_the_session() {
    let (_session, mut raw, heard, _) = asking(Options::default(), 1).await;
    // More than may wait, and nothing is answered meanwhile.
    for round in 0..300 {
        raw.send(&notification(
            "notifications/roots/list_changed",
            json!({"_meta": {"round": round}}),
        ))
        .await;
    }
    raw.send(&request("still there", "ping", json!({}))).await;
    let answer = timeout(Duration::from_secs(30), answer_roots(&mut raw)).await;
    assert_eq!(answer.expect("the session goes on")["id"], "still there");
    let waiting = Limits::default().notifications;
    timeout(Duration::from_secs(30), async {
        while heard.load(Ordering::SeqCst) < waiting {
            raw.send(&request("p", "ping", json!({}))).await;
            answer_roots(&mut raw).await;
        }
    })
    .await
    .expect("what waited is heard");
}

#[tokio::test]
async fn a_change_told_while_too_much_waits_is_heard_with_the_same_one_that_waits() {
    let options = limits(|limits| limits.notifications = 2);
    let (_session, mut raw, heard, may_ask) = asking(options, 0).await;
    let change = notification("notifications/roots/list_changed", json!({}));
    for _ in 0..100 {
        raw.send(&change).await;
    }
    raw.is_quiet().await;
    may_ask.add_permits(1);
    let total = async {
        while heard.load(Ordering::SeqCst) < 2 {
            raw.send(&request("p", "ping", json!({}))).await;
            answer_roots(&mut raw).await;
        }
        // One is with the handler and two wait, at most.
        for _ in 0..20 {
            raw.send(&request("p", "ping", json!({}))).await;
            answer_roots(&mut raw).await;
        }
        heard.load(Ordering::SeqCst)
    };
    let total = timeout(Duration::from_secs(30), total)
        .await
        .expect("what waited is heard");
    assert!((2..=3).contains(&total), "{total}");
}

#[tokio::test]
async fn requests_with_too_many_bytes_together_are_refused_until_some_are_done() {
    let tools = Tools::new(1);
    let options = limits(|limits| limits.request_bytes = 20_000);
    let (_session, mut raw) = opened(&tools, options, Revision::HUB, json!({}), 64).await;
    let large = |id: &str| {
        request(
            id,
            "tools/call",
            json!({"name": "hang", "arguments": {"x": "x".repeat(12_000)}}),
        )
    };
    raw.send(&large("first")).await;
    let refused = raw.ask(&large("second")).await;
    assert_eq!((&refused["id"], code(&refused)), (&json!("second"), Some(-32603)));
    assert_eq!(
        refused["error"]["message"],
        "the requests in flight have too many bytes"
    );
    assert_eq!(text(&raw.ask(&call("small", "any")).await), Some("done"));
    raw.send(&notification("notifications/cancelled", json!({"requestId": "first"})))
        .await;
    until("the first is gone", || tools.log.dropped.load(Ordering::SeqCst) == 2).await;
    raw.send(&large("third")).await;
    raw.is_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn calls_to_a_server_that_never_reads_time_out_and_leave_little_behind() {
    let options = limits(|limits| {
        (limits.in_flight, limits.waiting) = (4, 4);
        limits.answer = Duration::from_secs(1);
    });
    let (session, raw) = client(options, json!({"tools": {}}), 1).await;
    for _ in 0..200 {
        let ended = session.peer().call_tool(tool("any")).await;
        assert!(matches!(ended, Err(CallError::TimedOut(_))), "{ended:?}");
    }
    // The session's own, and those that would tell the server of what it missed.
    assert!(alive_tasks() <= 12, "{}", alive_tasks());
    session.close().await;
    until("no task is left", || alive_tasks() == 0).await;
    drop(raw);
}

#[tokio::test]
async fn requests_over_the_cap_are_refused_and_the_others_are_answered() {
    let tools = Tools::new(1);
    let options = limits(|limits| (limits.in_flight, limits.waiting) = (2, 3));
    let (_session, mut raw) = opened(&tools, options, Revision::HUB, json!({}), 64).await;
    for id in 0..5 {
        raw.send(&call(id, "hang")).await;
    }
    let refused = raw.ask(&call(5, "any")).await;
    assert_eq!((&refused["id"], code(&refused)), (&json!(5), Some(-32603)));
    raw.is_quiet().await;
    assert_eq!(
        tools.log.begun.load(Ordering::SeqCst),
        2,
        "only two are handled at a time"
    );
    for id in 0..5 {
        raw.send(&notification("notifications/cancelled", json!({"requestId": id})))
            .await;
    }
    // Their places become free.
    loop {
        let answer = raw.ask(&call(6, "any")).await;
        if text(&answer) == Some("done") {
            break;
        }
        assert_eq!(code(&answer), Some(-32603), "{answer}");
        tokio::task::yield_now().await;
    }
}

async fn a_thousand_calls(tools: Tools, options: Options, name: &'static str) {
    let (server_end, client_end) = channel(16);
    let server = serve_over(&tools, options, server_end);
    let info = hub::Implementation::new("client", "1");
    let session = connect(
        Nothing,
        info,
        hub::ClientCapabilities::default(),
        Options::default(),
        client_end,
    )
    .await
    .expect("there is a session");
    let calls: Vec<_> = (0..1000)
        .map(|_| {
            let peer = session.peer().clone();
            tokio::spawn(async move { peer.call_tool(tool(name)).await })
        })
        .collect();
    for call in calls {
        call.await.expect("no panic").expect("a result");
    }
    assert_eq!(tools.log.done.load(Ordering::SeqCst), 1000);
    session.close().await;
    server.ended().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_calls_are_in_flight_at_once() {
    // None is answered before all are being handled.
    let options = limits(|limits| limits.in_flight = 1000);
    a_thousand_calls(Tools::new(1000), options, "barrier").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_calls_wait_for_their_turn() {
    a_thousand_calls(Tools::new(1), Options::default(), "yield").await;
}

#[tokio::test]
async fn a_thousand_sessions_leave_no_task_behind() {
    let tools = Tools::new(1);
    for round in 0..1000 {
        // A server's client is dropped while a call is in flight.
        let (_, raw) = of_hub(&tools).await;
        raw.send(&call(1, "hang")).await;
        drop(raw);
        // A client's server is dropped, before or after the session has begun.
        if round % 2 == 0 {
            let (session, raw) = client(Options::default(), json!({}), 4).await;
            drop(raw);
            session.ended().await;
        } else {
            let (ours, theirs) = channel(4);
            let info = hub::Implementation::new("client", "1");
            let connecting = connect(
                Nothing,
                info,
                hub::ClientCapabilities::default(),
                Options::default(),
                ours,
            );
            // Nobody waits for the session any more, though the server is still there.
            assert!(timeout(Duration::ZERO, connecting).await.is_err());
            until("the client's session ends", || alive_tasks() < 40).await;
            drop(theirs);
        }
    }
    until("no task is left", || alive_tasks() == 0).await;
}

// Handlers.

#[tokio::test]
async fn a_panic_is_told_to_its_caller_alone() {
    let tools = Tools::new(1);
    let (_session, mut raw) = of_hub(&tools).await;
    raw.send(&call(1, "hang")).await;
    let answer = raw.ask(&call(2, "panic")).await;
    assert_eq!((&answer["id"], code(&answer)), (&json!(2), Some(-32603)));
    assert!(!answer.to_string().contains("on purpose"), "{answer}");
    let answer = raw.ask(&call(2, "any")).await;
    assert_eq!(text(&answer), Some("done"));
    raw.is_quiet().await;
}

#[tokio::test]
async fn a_cancelled_request_is_dropped_and_not_answered() {
    let tools = Tools::new(1);
    let (session, mut raw) = of_hub(&tools).await;
    raw.send(&call("a", "hang")).await;
    until("the call is handled", || tools.log.begun.load(Ordering::SeqCst) == 1).await;
    // One that nobody knows changes nothing.
    raw.send(&notification("notifications/cancelled", json!({"requestId": "b"})))
        .await;
    raw.is_quiet().await;
    assert_eq!(tools.log.dropped.load(Ordering::SeqCst), 0);
    raw.send(&notification(
        "notifications/cancelled",
        json!({"requestId": "a", "reason": "bored"}),
    ))
    .await;
    until("the handler is dropped", || {
        tools.log.dropped.load(Ordering::SeqCst) == 1
    })
    .await;
    raw.is_quiet().await;
    session.close().await;
    assert_eq!(raw.read().await, None);
    assert_eq!(tools.log.done.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cancelling_while_a_request_completes_gives_one_answer_or_none() {
    const ROUNDS: usize = 2000;
    let tools = Tools::new(1);
    let (session, mut raw) = of_hub(&tools).await;
    let mut answers: HashMap<u64, usize> = HashMap::new();
    for round in 0..ROUNDS {
        raw.send(&call(round, "yield")).await;
        for _ in 0..round % 7 {
            tokio::task::yield_now().await;
        }
        raw.send(&notification("notifications/cancelled", json!({"requestId": round})))
            .await;
        raw.send(&request(format!("p{round}"), "ping", json!({}))).await;
        loop {
            let answer = raw.next().await;
            match answer["id"].as_u64() {
                Some(id) => *answers.entry(id).or_default() += 1,
                None => break,
            }
        }
    }
    let closing = tokio::spawn(session.close());
    while let Some(answer) = raw.read().await {
        *answers.entry(answer["id"].as_u64().expect("a call's")).or_default() += 1;
    }
    closing.await.expect("no panic");
    assert!(answers.values().all(|&answers| answers == 1), "{answers:?}");
    assert!(answers.len() <= ROUNDS);
}

#[tokio::test]
async fn dropping_a_call_cancels_it_on_the_peer() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 16).await;
    let peer = session.peer().clone();
    let calling = tokio::spawn(async move { peer.call_tool(tool("hang")).await });
    let id = raw.next().await["id"].clone();
    calling.abort();
    let told = raw.next().await;
    assert_eq!(
        (&told["method"], &told["params"]["requestId"]),
        (&json!("notifications/cancelled"), &id)
    );
    // The answer that comes too late is for nobody.
    raw.send(&json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}))
        .await;
    raw.is_quiet().await;
}

#[tokio::test]
async fn what_a_cancelled_handler_asked_is_cancelled_as_well() {
    let tools = Tools::new(1);
    let (_session, mut raw) = opened(&tools, Options::default(), Revision::HUB, json!({"roots": {}}), 16).await;
    let asked = raw.ask(&call(1, "ask")).await;
    assert_eq!(asked["method"], "roots/list");
    raw.send(&notification("notifications/cancelled", json!({"requestId": 1})))
        .await;
    let told = raw.next().await;
    assert_eq!(told["method"], "notifications/cancelled");
    assert_eq!(told["params"]["requestId"], asked["id"]);
    raw.is_quiet().await;
}

// Time.

#[tokio::test(start_paused = true)]
async fn a_call_without_an_answer_times_out_and_is_cancelled() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 16).await;
    let begun = Instant::now();
    let ended = session.peer().call_tool(tool("hang")).await;
    assert!(matches!(ended, Err(CallError::TimedOut(_))), "{ended:?}");
    let (waited, limit) = (begun.elapsed(), Limits::default().answer);
    assert!(waited >= limit && waited < limit + Duration::from_secs(1), "{waited:?}");
    let id = raw.next().await["id"].clone();
    let told = raw.next().await;
    assert_eq!(
        (&told["method"], &told["params"]["requestId"]),
        (&json!("notifications/cancelled"), &id)
    );
    raw.is_quiet().await;
}

#[tokio::test]
async fn a_call_with_progress_is_sent_as_it_is_written() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 16).await;
    let arguments = r#"{"z":1.50,"a":12345678901234567890123,"m":1e400,"s":"\u00e9"}"#;
    let mut params = tool("any");
    params.arguments = Some(mcp_runtime::mcp_wire::from_str(arguments).expect("arguments"));
    let (progress, _made) = tokio::sync::mpsc::channel(1);
    let peer = session.peer().clone().with_progress(progress);
    let calling = tokio::spawn(async move { peer.call_tool(params).await });
    let sent = timeout(PATIENCE, raw.receiver.receive_outgoing())
        .await
        .expect("it is sent");
    let sent = String::from_utf8(sent.expect("the session goes on").json).expect("text");
    assert!(sent.contains(arguments), "{sent}");
    assert!(sent.contains(r#""_meta":{"progressToken":"#), "{sent}");
    calling.abort();
}

#[tokio::test(start_paused = true)]
async fn progress_extends_a_call_up_to_the_cap() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 16).await;
    let (progress, mut made) = tokio::sync::mpsc::channel(64);
    let peer = session.peer().clone().with_progress(progress);
    let begun = Instant::now();
    let calling = tokio::spawn(async move { peer.call_tool(tool("hang")).await });
    let token = raw.next().await["params"]["_meta"]["progressToken"].clone();
    assert!(!token.is_null());
    let mut told = 0;
    while !calling.is_finished() {
        told += 1;
        assert!(told < 100, "the call goes on for ever");
        let params = json!({"progressToken": token, "progress": told});
        raw.send(&notification("notifications/progress", params)).await;
        tokio::time::sleep(Limits::default().answer * 5 / 6).await;
    }
    let ended = calling.await.expect("no panic");
    let cap = Limits::default().answer_at_most;
    match ended {
        Err(CallError::TimedOut(waited)) => {
            assert!(waited >= cap && waited < cap + Duration::from_secs(1), "{waited:?}");
        }
        other => panic!("{other:?}"),
    }
    assert!(begun.elapsed() >= cap);
    let mut heard = 0;
    while let Ok(made) = made.try_recv() {
        heard += 1;
        assert!((made.progress - f64::from(heard)).abs() < 0.1, "{made:?}");
    }
    assert!(heard >= 12, "{heard}");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_never_begins_is_given_up_without_a_cancellation() {
    let (ours, theirs) = channel(16);
    let mut raw = Raw::new(theirs);
    let info = hub::Implementation::new("client", "1");
    let ended = connect(
        Nothing,
        info,
        hub::ClientCapabilities::default(),
        Options::default(),
        ours,
    )
    .await;
    assert!(ended.is_err());
    assert_eq!(raw.next().await["method"], "initialize");
    assert_eq!(
        raw.read().await,
        None,
        "the request that begins the session is never cancelled"
    );
}

// The lifecycle.

#[tokio::test]
async fn nothing_but_pings_is_answered_before_the_session_begins_and_it_begins_once() {
    for revision in spoken() {
        let tools = Tools::new(1);
        let (_session, mut raw) = unopened(&tools, any_revision(), 16);
        raw.is_quiet().await;
        for method in ["tools/list", "tools/call", "logging/setLevel"] {
            let refused = raw
                .ask(&request(1, method, json!({"name": "any", "level": "info"})))
                .await;
            assert_eq!((&refused["id"], code(&refused)), (&json!(1), Some(-32600)), "{refused}");
        }
        let welcome = raw.ask(&initialize(2, revision, json!({}))).await;
        assert_eq!(welcome["result"]["protocolVersion"], revision.as_str());
        let refused = raw.ask(&initialize(3, revision, json!({}))).await;
        assert_eq!((&refused["id"], code(&refused)), (&json!(3), Some(-32600)), "{refused}");
        let answer = raw.ask(&call(4, "any")).await;
        assert_eq!(text(&answer), Some("done"));
        raw.is_quiet().await;
    }
}

#[tokio::test]
async fn a_client_answers_pings_before_the_session_begins() {
    let (ours, theirs) = channel(16);
    let mut raw = Raw::new(theirs);
    let info = hub::Implementation::new("client", "1");
    let connecting = tokio::spawn(async {
        connect(
            Nothing,
            info,
            hub::ClientCapabilities::default(),
            Options::default(),
            ours,
        )
        .await
    });
    assert_eq!(raw.next().await["method"], "initialize");
    raw.is_quiet().await;
    let refused = raw.ask(&request(1, "roots/list", json!({}))).await;
    assert_eq!(code(&refused), Some(-32600), "{refused}");
    drop(raw);
    assert!(connecting.await.expect("no panic").is_err());
}

#[tokio::test(start_paused = true)]
async fn closing_answers_what_is_in_flight() {
    let tools = Tools::new(1);
    let (session, mut raw) = opened(&tools, Options::default(), Revision::HUB, json!({"roots": {}}), 16).await;
    raw.send(&call(1, "second")).await;
    let asked = raw.ask(&call(2, "ask")).await;
    raw.send(&call(3, "second")).await;
    until("all are handled", || tools.log.begun.load(Ordering::SeqCst) == 3).await;
    let closing = tokio::spawn(session.close());
    tokio::task::yield_now().await;
    // Nothing new is taken on, but what is in flight may still be cancelled, and is told what it asked.
    let refused = raw.ask(&call(4, "any")).await;
    assert_eq!((&refused["id"], code(&refused)), (&json!(4), Some(-32603)), "{refused}");
    raw.send_bytes(b"nonsense").await;
    assert_eq!(code(&raw.next().await), Some(-32700));
    raw.send(&notification("notifications/cancelled", json!({"requestId": 3})))
        .await;
    let roots = json!({"roots": [{"uri": "file:///"}]});
    let answer = raw
        .ask(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": roots}))
        .await;
    assert_eq!((&answer["id"], text(&answer)), (&json!(2), Some("1 roots")));
    let answer = raw.next().await;
    assert_eq!((&answer["id"], text(&answer)), (&json!(1), Some("done")));
    assert_eq!(raw.read().await, None);
    closing.await.expect("no panic");
    until("no task is left", || alive_tasks() == 0).await;
}

#[tokio::test(start_paused = true)]
async fn closing_does_not_wait_for_ever() {
    let tools = Tools::new(1);
    let (session, mut raw) = of_hub(&tools).await;
    raw.send(&call(1, "hang")).await;
    raw.send(&notification("notifications/roots/list_changed", json!({})))
        .await;
    until("both are handled", || tools.log.begun.load(Ordering::SeqCst) == 2).await;
    let begun = Instant::now();
    session.close().await;
    let closing = Limits::default().closing;
    assert!(begun.elapsed() < closing * 2, "{:?}", begun.elapsed());
    assert_eq!(raw.read().await, None);
    tokio::time::sleep(closing * 2).await;
    until("no task is left", || alive_tasks() == 0).await;
}

// Batches.

/// The revision that has batches.
fn batching() -> Revision {
    "2025-03-26".parse().expect("a revision")
}

#[tokio::test]
async fn a_batch_is_answered_in_one_array_where_the_revision_has_batches() {
    for revision in spoken() {
        let tools = Tools::new(2);
        let (_session, mut raw) = opened(&tools, any_revision(), revision, json!({}), 16).await;
        let batch = json!([
            call(1, "barrier"),
            notification("notifications/roots/list_changed", json!({})),
            call(2, "barrier"),
            request(3, "ping", json!({})),
            request(4, "prompts/list", json!({})),
            call(5, "panic"),
            {"jsonrpc": "2.0", "id": 99, "result": {}},
        ]);
        let answer = raw.ask(&batch).await;
        if !revision.facts().batches {
            assert_eq!(
                (&answer["id"], code(&answer)),
                (&json!(1), Some(-32600)),
                "{revision}: {answer}"
            );
            raw.is_quiet().await;
            continue;
        }
        let answers = answer.as_array().expect("an array");
        let outcomes: HashMap<i64, Option<i64>> = answers
            .iter()
            .map(|answer| (answer["id"].as_i64().expect("an id"), code(answer)))
            .collect();
        let expected = [(1, None), (2, None), (3, None), (4, Some(-32601)), (5, Some(-32603))];
        assert_eq!(outcomes, HashMap::from(expected), "{answer}");
        assert_eq!(answers.len(), expected.len());
        // One of which nothing is to be answered isn't.
        raw.send(&json!([notification(
            "notifications/cancelled",
            json!({"requestId": 1})
        )]))
        .await;
        raw.is_quiet().await;
        raw.send(&json!([])).await;
        raw.is_quiet().await;
        // What is cancelled is left out.
        raw.send(&json!([call(6, "hang"), call(7, "any")])).await;
        until("both are handled", || tools.log.begun.load(Ordering::SeqCst) >= 6).await;
        raw.send(&notification("notifications/cancelled", json!({"requestId": 6})))
            .await;
        let answer = raw.next().await;
        assert_eq!(answer.as_array().map(Vec::len), Some(1), "{answer}");
        assert_eq!(answer[0]["id"], 7);
    }
}

#[tokio::test]
async fn a_batch_with_too_many_messages_is_refused_as_one_and_none_of_it_is_taken() {
    let tools = Tools::new(1);
    let options = limits(|limits| limits.batch = 3);
    let (_session, mut raw) = opened(&tools, options, batching(), json!({}), 16).await;
    let refused = raw
        .ask(&json!([call(1, "any"), call(2, "any"), 5, call(3, "any")]))
        .await;
    assert_eq!(code(&refused), Some(-32600), "{refused}");
    assert_eq!(refused["error"]["message"], "a batch may have 3 messages at most");
    assert_eq!(refused["id"], 1, "the revision has no error without an id");
    raw.is_quiet().await;
    assert_eq!(tools.log.begun.load(Ordering::SeqCst), 0);
    let answers = raw.ask(&json!([call(1, "any"), 5, call(3, "any")])).await;
    assert_eq!(answers.as_array().map(Vec::len), Some(2), "{answers}");
}

#[tokio::test]
async fn every_request_of_a_batch_has_an_answer_whatever_stands_beside_it() {
    let (_session, mut raw) = opened(&Tools::new(1), Options::default(), batching(), json!({}), 16).await;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let batch = format!(
        r#"[{},{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"any","arguments":{{"x":{deep}}}}}}},[],
        {{"jsonrpc":"2.0","id":1e999,"method":"ping"}},{}]"#,
        call(1, "any"),
        call(3, "any"),
    );
    raw.send_bytes(batch.as_bytes()).await;
    let answers = raw.next().await;
    let ids: Vec<_> = answers
        .as_array()
        .expect("an array")
        .iter()
        .map(|answer| &answer["id"])
        .collect();
    assert_eq!(ids, [1, 2, 3], "{answers}");
    assert_eq!(code(&answers[1]), Some(-32602), "{answers}");
}

#[tokio::test]
async fn what_a_client_says_about_itself_is_bounded() {
    let (_session, mut raw) = unopened(&Tools::new(1), limits(|limits| limits.initialize_bytes = 1000), 16);
    let large = json!({"experimental": {"x": {"y": "z".repeat(1000)}}});
    let refused = raw.ask(&initialize(1, Revision::HUB, large)).await;
    assert_eq!(code(&refused), Some(-32602), "{refused}");
    let welcome = raw.ask(&initialize(2, Revision::HUB, json!({}))).await;
    assert!(welcome["result"].is_object(), "{welcome}");
}

#[tokio::test]
async fn progress_of_a_request_in_a_batch_is_told() {
    let tools = Tools::new(1);
    let (_session, mut raw) = opened(&tools, Options::default(), batching(), json!({}), 16).await;
    let params = |token: &str| json!({"name": "progress", "_meta": {"progressToken": token}});
    let batch = json!([call(1, "any"), request(2, "tools/call", params("token"))]);
    let told = raw.ask(&batch).await;
    assert_eq!(told["method"], "notifications/progress");
    assert_eq!(told["params"]["progressToken"], "token");
    assert_eq!(raw.next().await.as_array().map(Vec::len), Some(2));
}

// Capabilities.

#[tokio::test]
async fn a_server_neither_answers_nor_asks_what_is_not_offered() {
    for revision in spoken() {
        let tools = Tools::new(1);
        let (_session, mut raw) = opened(&tools, any_revision(), revision, json!({}), 16).await;
        for (method, params) in [
            ("prompts/list", json!({})),
            ("resources/read", json!({"uri": "file:///"})),
            ("logging/setLevel", json!({"level": "info"})),
        ] {
            let refused = raw.ask(&request(1, method, params)).await;
            assert_eq!((&refused["id"], code(&refused)), (&json!(1), Some(-32601)), "{refused}");
        }
        let answer = raw.ask(&call(2, "ask")).await;
        let why = "the peer doesn't offer `roots`, which roots/list needs";
        assert_eq!(text(&answer), Some(why), "{answer}");
        raw.is_quiet().await;
    }
}

#[tokio::test]
async fn a_client_neither_answers_nor_asks_what_is_not_offered() {
    let (session, mut raw) = client(Options::default(), json!({"prompts": {}}), 16).await;
    let ended = session.peer().call_tool(tool("any")).await;
    match ended {
        Err(CallError::NotOffered { method, capability }) => {
            assert_eq!((method.as_str(), capability), ("tools/call", "tools"));
        }
        other => panic!("{other:?}"),
    }
    raw.is_quiet().await;
    let refused = raw.ask(&request(1, "roots/list", json!({}))).await;
    assert_eq!((&refused["id"], code(&refused)), (&json!(1), Some(-32601)), "{refused}");
    raw.is_quiet().await;
}
