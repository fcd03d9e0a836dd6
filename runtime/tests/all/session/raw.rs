//! A peer that sends any JSON, and the servers and clients that the tests connect it to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_runtime::transport::{ChannelReceiver, ChannelSender, Outgoing, Purpose, Sender, Transport, channel};
use mcp_runtime::{
    CallClient, ClientSession, Context, Era, ErrorObject, Limits, Options, Revision, ServerHandler, ServerSession,
    ServerSide, UnknownMethod, hub, serve,
};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::time::timeout;

use crate::common::{connect_to, session_revisions, with_handshake};

pub const PATIENCE: Duration = Duration::from_secs(3600);

/// The number of calls of [`Tools`] that started, were dropped, and completed.
#[derive(Debug, Default)]
pub struct Log {
    pub begun: AtomicUsize,
    pub dropped: AtomicUsize,
    pub done: AtomicUsize,
}

/// A server whose tools behave as their name, or the argument `do`, selects.
#[derive(Clone)]
pub struct Tools {
    pub log: Arc<Log>,
    pub barrier: Arc<Barrier>,
}

impl Tools {
    pub fn new(barrier: usize) -> Self {
        let log = Arc::default();
        let barrier = Arc::new(Barrier::new(barrier));
        Self { log, barrier }
    }
}

pub struct CountDrop<'a>(&'a AtomicUsize);

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
    ) -> Result<hub::AnyCallToolResult, ErrorObject> {
        self.log.begun.fetch_add(1, Ordering::SeqCst);
        let _dropped = CountDrop(&self.log.dropped);
        let mut text = "done".to_owned();
        // The argument `do` selects the behavior. Without it, the tool's name does.
        let asked = params.arguments.as_ref().and_then(|arguments| arguments.get("do"));
        let asked: Option<String> = asked.and_then(|asked| asked.decode_as().ok());
        match asked.as_deref().unwrap_or(&params.name) {
            "panic" => panic!("on purpose"),
            "hang" => std::future::pending().await,
            "barrier" => {
                self.barrier.wait().await;
            }
            "yield" => tokio::task::yield_now().await,
            "second" => tokio::time::sleep(Duration::from_secs(1)).await,
            "progress" => context.progress(1.0, None, None).await.expect("progress is reported"),
            "ask" => {
                text = match context.peer().list_roots(None).await {
                    Ok(roots) => format!("{} roots", roots.roots.len()),
                    Err(error) => error.to_string(),
                }
            }
            _ => {}
        }
        self.log.done.fetch_add(1, Ordering::SeqCst);
        Ok(hub::CallToolResult::new(vec![hub::TextContent::new(text).into()]).into())
    }

    async fn on_unknown(&self, _: UnknownMethod, _: &Context<ServerSide>) {
        self.log.begun.fetch_add(1, Ordering::SeqCst);
        std::future::pending().await
    }
}

/// A peer that sends and reads raw JSON.
pub struct Raw {
    pub sender: ChannelSender,
    pub receiver: ChannelReceiver,
}

impl Raw {
    pub fn new(transport: impl Transport<Sender = ChannelSender, Receiver = ChannelReceiver>) -> Self {
        let (sender, receiver) = transport.split();
        Self { sender, receiver }
    }

    pub async fn send(&self, message: &Value) {
        self.send_bytes(message.to_string().as_bytes()).await;
    }

    pub async fn send_bytes(&self, json: &[u8]) {
        let message = Outgoing {
            json: json.to_vec(),
            purpose: Purpose::Unsolicited,
        };
        self.sender.send(message).await.expect("the session continues");
    }

    /// Returns the next message, or `None` once the session has ended.
    pub async fn read(&mut self) -> Option<Value> {
        let message = timeout(PATIENCE, self.receiver.receive_outgoing())
            .await
            .expect("something comes in time")?;
        Some(serde_json::from_slice(&message.json).expect("what we write is JSON"))
    }

    pub async fn next(&mut self) -> Value {
        self.read().await.expect("the session continues")
    }

    pub async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        self.next().await
    }

    /// Asserts that no message comes before the response to a ping.
    pub async fn is_quiet(&mut self) {
        let answer = self.ask(&request("quiet", "ping", json!({}))).await;
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": "quiet", "result": {}}));
    }
}

pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let id: Value = id.into();
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub fn call(id: impl Into<Value>, tool: &str) -> Value {
    request(id, "tools/call", json!({"name": tool}))
}

pub fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub fn initialize(id: impl Into<Value>, revision: Revision, capabilities: Value) -> Value {
    let info = json!({"name": "raw", "version": "1"});
    let params = json!({"protocolVersion": revision.as_str(), "capabilities": capabilities, "clientInfo": info});
    request(id, "initialize", params)
}

pub fn code(answer: &Value) -> Option<i64> {
    answer["error"]["code"].as_i64()
}

pub fn text(answer: &Value) -> Option<&str> {
    answer["result"]["content"][0]["text"].as_str()
}

pub fn limits(change: impl FnOnce(&mut Limits)) -> Options {
    let mut options = with_handshake();
    change(&mut options.limits);
    options
}

/// Options that allow every revision with a handshake, drafts included.
pub fn any_revision() -> Options {
    Options {
        supported: session_revisions(),
        ..Options::default()
    }
}

pub fn serve_over(tools: &Tools, options: Options, transport: impl Transport) -> ServerSession {
    let capabilities = serde_json::from_value(json!({"tools": {}})).expect("capabilities");
    let info = hub::Implementation::new("server", "1");
    serve(tools.clone(), info, capabilities, None, options, transport)
}

/// A server and its raw client, which hasn't sent anything yet.
pub fn unopened(tools: &Tools, options: Options, capacity: usize) -> (ServerSession, Raw) {
    let (ours, theirs) = channel(capacity);
    (serve_over(tools, options, ours), Raw::new(theirs))
}

/// A server and its raw client.
pub async fn opened(
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

pub async fn of_hub(tools: &Tools) -> (ServerSession, Raw) {
    opened(tools, Options::default(), Revision::V2025_11_25, json!({}), 16).await
}

/// A client and its raw server.
pub async fn client(options: Options, capabilities: Value, capacity: usize) -> (ClientSession, Raw) {
    let (ours, theirs) = channel(capacity);
    let mut raw = Raw::new(theirs);
    let options = Options {
        era: Some(Era::Handshake),
        ..options
    };
    let connecting = connect_to(ours, options);
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

pub fn tool(name: &str) -> hub::CallToolRequestParams {
    hub::CallToolRequestParams::new(name)
}

/// Waits, without a clock, until a condition holds.
pub async fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..10_000_000 {
        if is_so() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("never: {what}");
}

pub fn alive_tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// The revision that has batches.
pub fn batching() -> Revision {
    "2025-03-26".parse().expect("a revision")
}
