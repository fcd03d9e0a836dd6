//! Input from a peer that isn't a valid message.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_runtime::transport::{ChannelReceiver, ChannelSender, Outgoing, Purpose, Sender, Transport, channel};
use mcp_runtime::{ClientSession, Options, Revision, UnknownMethod, hub, serve};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::common::{connect_to, session_revisions, subscribe};

/// A peer that sends arbitrary bytes.
struct Raw {
    sender: ChannelSender,
    receiver: ChannelReceiver,
}

impl Raw {
    fn new(transport: impl Transport<Sender = ChannelSender, Receiver = ChannelReceiver>) -> Self {
        let (sender, receiver) = transport.split();
        Self { sender, receiver }
    }

    async fn send(&self, json: impl Into<Vec<u8>>) {
        let (json, purpose) = (json.into(), Purpose::Unsolicited);
        self.sender.send(Outgoing { json, purpose }).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let received = timeout(Duration::from_secs(10), self.receiver.receive_outgoing());
        serde_json::from_slice(&received.await.unwrap().unwrap().json).unwrap()
    }

    /// Sends a ping, and returns the messages received before its response.
    async fn received_so_far(&mut self) -> Vec<Value> {
        self.send(r#"{"jsonrpc":"2.0","id":"so far","method":"ping"}"#).await;
        let mut all = Vec::new();
        loop {
            let message = self.receive().await;
            if message == json!({"jsonrpc": "2.0", "id": "so far", "result": {}}) {
                return all;
            }
            all.push(message);
        }
    }
}

fn options(revision: Revision) -> Options {
    Options {
        supported: vec![revision],
        ..Options::default()
    }
}

/// A client's session with a raw server.
async fn client(revision: Revision) -> (ClientSession, Raw) {
    let (server_end, client_end) = channel(16);
    let mut raw = Raw::new(server_end);
    let session = connect_to(client_end, options(revision));
    let (session, ()) = tokio::join!(session, async {
        let id = raw.receive().await["id"].take();
        let result = json!({
            "protocolVersion": revision.as_str(), "capabilities": {}, "serverInfo": {"name": "raw", "version": "1.0"},
        });
        raw.send(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
            .await;
        assert_eq!(raw.receive().await["method"], "notifications/initialized");
    });
    (session.unwrap(), raw)
}

/// A raw client, in a session with a server.
async fn server(revision: Revision) -> Raw {
    let (server_end, client_end) = channel(16);
    let info = hub::Implementation::new("server", "1.0");
    let capabilities = hub::ServerCapabilities::default();
    serve((), info, capabilities, None, options(revision), server_end);
    let mut raw = Raw::new(client_end);
    let params = json!({
        "protocolVersion": revision.as_str(), "capabilities": {}, "clientInfo": {"name": "raw", "version": "1.0"},
    });
    raw.send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string())
        .await;
    raw.receive().await;
    raw
}

/// Input without an id that a response could have.
const NAMELESS: [&str; 9] = [
    "Listening on port 8080",
    r#"{"level":"info","message":"ready"}"#,
    "[",
    "[1]",
    "[]",
    "null",
    r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","error":{"code":1,"message":2}}"#,
];

/// Malformed responses, whose id isn't that of a request.
const ANSWERS: [&str; 3] = [
    r#"{"jsonrpc":"2.0","id":77,"result":1,"error":{"code":1,"message":""}}"#,
    r#"{"jsonrpc":"1.0","id":77,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":77}"#,
];

#[tokio::test]
async fn a_client_answers_only_requests() {
    for revision in session_revisions() {
        let (_session, mut peer) = client(revision).await;
        for stray in NAMELESS.into_iter().chain(ANSWERS) {
            peer.send(stray).await;
        }
        assert_eq!(peer.received_so_far().await, [] as [Value; 0], "{revision}");
        peer.send(r#"{"jsonrpc":"2.0","id":5,"method":7}"#).await;
        let refusals = peer.received_so_far().await;
        assert_eq!(refusals.len(), 1, "a request with an id is answered");
        assert_eq!(
            (&refusals[0]["id"], &refusals[0]["error"]["code"]),
            (&json!(5), &json!(-32600))
        );
    }
}

#[tokio::test]
async fn a_server_answers_stray_input_only_if_the_revision_has_errors_without_id() {
    for revision in session_revisions() {
        for stray in NAMELESS.into_iter().chain(ANSWERS) {
            let mut peer = server(revision).await;
            peer.send(stray).await;
            let refusals = peer.received_so_far().await;
            assert_eq!(
                refusals.len(),
                usize::from(revision.facts().errors_without_id),
                "{revision} {stray}"
            );
            for refusal in refusals {
                assert_eq!(refusal.get("id"), None, "{stray}");
                assert!(refusal["error"]["code"].is_i64(), "{stray}");
            }
        }
    }
}

#[tokio::test]
async fn a_request_without_the_version_of_json_rpc_is_refused() {
    for revision in session_revisions() {
        let mut peer = server(revision).await;
        for version in [r#""jsonrpc":"1.0","#, ""] {
            for method in ["ping", "tools/list"] {
                peer.send(format!(r#"{{{version}"id":5,"method":"{method}"}}"#)).await;
                let refusal = peer.receive().await;
                assert_eq!(
                    (&refusal["id"], &refusal["error"]["code"]),
                    (&json!(5), &json!(-32600)),
                    "{revision} {version} {method}"
                );
            }
        }
    }
}

/// Keeps the fields of each warning.
#[derive(Clone, Default)]
pub struct Warnings(pub Arc<Mutex<Vec<String>>>);

struct Fields(String);

impl tracing::field::Visit for Fields {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN && metadata.target().starts_with("mcp_runtime_core")
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn an_error_without_an_id_causes_a_warning_and_fails_no_call() {
    let warnings = Warnings::default();
    let _guards = subscribe(warnings.clone());
    let (session, mut peer) = client(session_revisions()[0]).await;
    let peer_of_session = session.peer().clone();
    let calling = tokio::spawn(async move { peer_of_session.call_unknown(UnknownMethod::new("x/y")).await });
    let id = peer.receive().await["id"].take();
    peer.send(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}"#)
        .await;
    peer.send(json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string())
        .await;
    calling.await.unwrap().unwrap();
    let warnings = warnings.0.lock().unwrap();
    assert!(warnings.len() == 1 && warnings[0].contains("what?"), "{warnings:?}");
}

#[tokio::test]
async fn a_server_that_prints_log_lines_among_its_messages_causes_one_short_warning() {
    let warnings = Warnings::default();
    let _guards = subscribe(warnings.clone());
    let (_session, mut peer) = client(session_revisions()[0]).await;
    let long = "x".repeat(100_000);
    for n in 0..1000 {
        peer.send(format!("line {n}\n{long}")).await;
    }
    assert_eq!(peer.received_so_far().await, [] as [Value; 0]);
    let warnings = warnings.0.lock().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains(r"line 0\nxxx"), "{warnings:?}");
    assert!(warnings[0].len() < 1000, "{warnings:?}");
}
