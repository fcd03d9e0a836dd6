//! An engine that only echoes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_adapters::mcp_wire::RequestId;
use mcp_runtime::transport::http::server::SessionTransport;
use mcp_runtime::transport::{Incoming, Outgoing, Purpose, Receiver, Sender, Transport};
use serde_json::{Value, json};

/// Counters of the engines' activity.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    pub started: Arc<AtomicUsize>,
    pub ended: Arc<AtomicUsize>,
    pub sent: Arc<AtomicUsize>,
    /// The number of messages that the engines have received.
    pub taken: Arc<AtomicUsize>,
}

/// Runs a minimal server, which echoes the params of methods that it doesn't know.
pub async fn engine(transport: SessionTransport, seen: Seen) {
    let (sender, mut receiver) = transport.split();
    let sender = Arc::new(sender);
    while let Ok(Some(incoming)) = receiver.receive().await {
        let Incoming::Message { json: bytes, .. } = incoming else {
            continue;
        };
        seen.taken.fetch_add(1, Ordering::SeqCst);
        let whole: Value = serde_json::from_slice(&bytes).unwrap();
        if let Value::Array(messages) = whole {
            let requests: Vec<Value> = messages
                .into_iter()
                .filter(|message| message.get("id").is_some())
                .collect();
            let ids: Vec<RequestId> = requests.iter().map(id_of).collect();
            let answers: Vec<Value> = requests.iter().map(echo).collect();
            let message = outgoing(&Value::from(answers), Purpose::Response(ids));
            sender.send(message).await.unwrap();
            continue;
        }
        if whole["method"] == "notifications/cancelled" {
            let id = serde_json::from_value(whole["params"]["requestId"].clone()).unwrap();
            sender.unanswered(&[id]);
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
                let purpose = if own {
                    Purpose::Unsolicited
                } else {
                    Purpose::RelatedTo(id.clone())
                };
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
    let _ = sender
        .send(outgoing(&echo(&request), Purpose::Response(vec![id])))
        .await;
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
