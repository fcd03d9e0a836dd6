//! Clients and servers of any two revisions, with a bridge between them.

mod bytes;
mod changes;
mod faults;
mod pairs;
mod server_requests;
mod unanswered_requests;
mod undeclared_capabilities;

use std::sync::Arc;
use std::sync::Mutex;

use mcp_runtime::bridge::{Bridge, BridgeError, BridgeOptions};
use mcp_runtime::transport::{
    ChannelReceiver, ChannelSender, ChannelTransport, Outgoing, Purpose, Sender, Transport, channel,
};
use mcp_runtime::{Options, Revision, Router};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::common::PATIENCE;

/// The losses that a bridge has reported: method, path and kind.
type Losses = Arc<Mutex<Vec<String>>>;

/// Options of a bridge, and the losses that it reports.
fn options() -> (BridgeOptions, Losses) {
    let losses = Losses::default();
    let kept = Arc::clone(&losses);
    let options = BridgeOptions {
        losses: Some(Arc::new(move |method, losses| {
            let told = losses
                .iter()
                .map(|loss| format!("{method} {} {}", loss.path, loss.kind));
            kept.lock().expect("nobody panics").extend(told);
        })),
        ..BridgeOptions::default()
    };
    (options, losses)
}

/// A client's end of a bridge to a router that supports one revision.
fn bridged(router: &Router, server: Revision, options: BridgeOptions) -> (ChannelTransport, Serving) {
    let router = router.clone();
    let connector = move || {
        let (ours, theirs) = channel(16);
        let options = Options {
            supported: vec![server],
            ..Options::default()
        };
        drop(router.clone().serve(options, ours));
        Ok(theirs)
    };
    serve(Bridge::new(connector, options))
}

type Serving = JoinHandle<Result<(), BridgeError>>;

/// A client's end of a bridge.
fn serve(bridge: Bridge) -> (ChannelTransport, Serving) {
    let (clients, client) = channel(16);
    let serving = tokio::spawn(async move { bridge.serve(clients).await });
    (client, serving)
}

/// A bridge to servers whose messages a test writes: each connection is to the next one.
fn by_hand<const N: usize>(options: BridgeOptions) -> (Bridge, [Raw; N]) {
    let mut connections = Vec::new();
    let servers = std::array::from_fn(|_| {
        let (ours, theirs) = channel(16);
        connections.push(theirs);
        Raw::new(ours)
    });
    let connections = Mutex::new(connections.into_iter());
    let connector = move || Ok(connections.lock().expect("nobody panics").next().expect("there is one"));
    (Bridge::new(connector, options), servers)
}

fn result(request: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string()
}

/// Answers a handshake as a server of revision 2025-11-25.
async fn agree(server: &mut Raw, handshake: &Value, capabilities: Value) {
    let info = json!({"name": "s", "version": "1"});
    let agreed = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info});
    server.send(&result(handshake, &agreed)).await;
    assert_eq!(server.next().await["method"], "notifications/initialized");
}

/// Answers `server/discover` as a stateless server.
async fn discover(server: &mut Raw, capabilities: Value) {
    let discovery = server.next().await;
    assert_eq!(discovery["method"], "server/discover", "{discovery}");
    let discovered = json!({
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "supportedVersions": [Revision::HUB.as_str()],
        "capabilities": capabilities,
    });
    server.send(&result(&discovery, &discovered)).await;
}

/// A peer that sends and reads raw JSON.
struct Raw {
    sender: ChannelSender,
    receiver: ChannelReceiver,
}

impl Raw {
    fn new(transport: ChannelTransport) -> Self {
        let (sender, receiver) = transport.split();
        Self { sender, receiver }
    }

    async fn send(&self, json: &str) {
        let message = Outgoing {
            json: json.as_bytes().to_vec(),
            purpose: Purpose::Unsolicited,
        };
        self.sender.send(message).await.expect("the session continues");
    }

    /// The next message as it was written.
    async fn text(&mut self) -> String {
        let message = timeout(PATIENCE, self.receiver.receive_outgoing()).await;
        let message = message
            .expect("something comes in time")
            .expect("the session continues");
        String::from_utf8(message.json).expect("it is text")
    }

    async fn next(&mut self) -> Value {
        serde_json::from_str(&self.text().await).expect("it is JSON")
    }
}
