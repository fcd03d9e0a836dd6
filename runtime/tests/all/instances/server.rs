//! The server whose instances are tested.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_runtime::router::{Call, State};
use mcp_runtime::transport::http::server::{HttpServer, RedisOptions, RedisStore, serve};
use mcp_runtime::{
    Args, CallClient, CallError, Options, Peer, Revision, Router, ServerSide, UnknownMethod, hub, mcp_wire,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

use crate::instances::proofs::protected;
use crate::processes;

/// The environment variable with the URL of the store of a process that serves.
pub const STORE: &str = "MCP_TEST_STORE";
/// The environment variable with the keys of the issuer, set for a process that requires tokens.
pub const KEYS: &str = "MCP_TEST_KEYS";

#[derive(Deserialize, JsonSchema)]
struct Count {
    to: u64,
    /// Milliseconds between two numbers.
    pause: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Questions {
    number: u64,
}

async fn count(Args(Count { to, pause }): Args<Count>, call: Call) -> String {
    for number in 1..=to {
        let _ = call.log(hub::LoggingLevel::Info, serde_json::Value::from(number)).await;
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
    format!("counted to {to}")
}

/// Elicits and samples in turns.
async fn ask(Args(Questions { number }): Args<Questions>, call: Call) -> Result<String, CallError> {
    let mut answers = Vec::new();
    for question in 1..=number {
        let form = mcp_wire::from_str(r#"{"type": "object", "properties": {}}"#).expect("it is a form");
        let form = hub::ElicitRequestFormParams::new(format!("question {question}"), form);
        let answer = call.peer().elicit(form.into()).await?;
        answers.push(answer.action.as_str().to_owned());
        let message = hub::SamplingMessage::new(hub::Role::User, hub::TextContent::new("say something"));
        let message = hub::CreateMessageRequestParams::new(10, vec![message]);
        let sampled = call.peer().create_message(message).await?;
        answers.push(sampled.model);
    }
    Ok(answers.join(" "))
}

/// The clients of this instance.
type Peers = Arc<Mutex<Vec<Peer<ServerSide>>>>;

#[derive(Deserialize, JsonSchema)]
struct Announcement {
    text: String,
}

/// Sends a message without a related request to every client.
async fn announce(Args(Announcement { text }): Args<Announcement>, State(peers): State<Peers>) -> &'static str {
    let peers = peers.lock().expect("nobody has panicked").clone();
    for peer in peers {
        let params = serde_json::json!({"text": text}).to_string();
        let params: mcp_wire::RawObject = mcp_wire::from_str(&params).expect("it is an object");
        let announcement = UnknownMethod::new("announcement").with_params(params);
        let _ = peer.notify_unknown(announcement).await;
    }
    "announced"
}

/// Logs that it waits, and is cancelled.
async fn wait(call: Call) -> String {
    let _ = call
        .log(hub::LoggingLevel::Info, serde_json::Value::from("waits"))
        .await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    "nobody has cancelled it".to_owned()
}

/// A process that serves until its standard input ends. It does nothing unless another test has started it.
#[tokio::test]
async fn a_process_that_serves() {
    if !processes::is_one() {
        return;
    }
    let url = std::env::var(STORE).expect("it has a store");
    let mut options = RedisOptions::default();
    options.heartbeat = Duration::from_secs(2);
    options.timeout = Duration::from_secs(1);
    let store = RedisStore::connect(&url, options).await.expect("the store answers");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let peers = Peers::default();
    let tools = Router::new("one of two", "1.0")
        .with_state(peers.clone())
        .tool("announce", "Sends a message that is related to no request", announce)
        .tool("process", "Says which process answers", || async {
            std::process::id().to_string()
        })
        .tool("count", "Counts in log messages", count)
        .tool("ask", "Asks the user and the model", ask)
        .tool("wait", "Waits until it is cancelled", wait);
    let server = HttpServer::from_fn(move |transport, _| {
        let session = tools.clone().serve(Options::default(), transport);
        peers.lock().expect("nobody has panicked").push(session.peer().clone());
    });
    let mut server = server.revisions(Revision::ALL);
    if let Ok(keys) = std::env::var(KEYS) {
        server = server.protect(protected(&keys, store.proofs()));
    }
    let server = server.store(store);
    processes::announce(address);
    serve(listener, server).await;
}
