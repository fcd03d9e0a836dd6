//! A router as a function, which runs on any executor.

use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use mcp_runtime::http::Extensions;
use mcp_runtime::router::{Answer, Call, Router};
use mcp_runtime::{CallError, Options, Responder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::eras::{meta, request};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future without tokio.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Person {
    name: String,
}

async fn greet(call: Call) -> Result<String, CallError> {
    call.progress(1.0, None, None).await?;
    match call.elicit("Who are you?").await? {
        Answer::Accepted(Person { name }) => Ok(format!("Hello, {name}")),
        Answer::Declined | Answer::Cancelled => Ok("Hello".to_owned()),
    }
}

/// The responder for all requests: each responder seals the state of input requests with its own key.
static RESPONDER: LazyLock<Responder> = LazyLock::new(|| {
    let router = Router::new("function", "1.0")
        .tool("sunny", "The weather", || "sunny")
        .tool("greet", "Greets the user", greet)
        .tool("panics", "Fails", || -> &str { panic!("on purpose") });
    router.responder(Options::default())
});

fn respond(message: &Value) -> Option<Value> {
    let json = message.to_string();
    let response = block_on(RESPONDER.respond(json.as_bytes(), Extensions::new()));
    response.map(|json| serde_json::from_slice(&json).expect("it is JSON"))
}

#[test]
fn a_request_without_the_version_of_json_rpc_is_refused() {
    for method in ["server/discover", "tools/list"] {
        let mut request = request(1, method, json!({}));
        assert!(respond(&request).unwrap()["result"].is_object());
        request["jsonrpc"] = json!("1.0");
        assert_eq!(respond(&request).unwrap()["error"]["code"], -32600, "{method}");
    }
}

fn call(tool: &str) -> Value {
    let mut call = request(1, "tools/call", json!({"name": tool, "arguments": {}}));
    call["params"]["_meta"]["progressToken"] = json!("p");
    call
}

#[test]
fn a_request_gets_its_response() {
    let answer = respond(&call("sunny")).expect("it has a response");
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["result"]["content"][0]["text"], "sunny");
    let answer = respond(&request(2, "tools/list", json!({}))).expect("it has a response");
    assert_eq!(answer["result"]["tools"].as_array().map(Vec::len), Some(3));
}

#[test]
fn discovery_declares_no_notifications() {
    let answer = respond(&request(1, "server/discover", json!({}))).expect("it has a response");
    assert_eq!(answer["result"]["capabilities"]["tools"], json!({}), "{answer}");
}

#[test]
fn an_elicitation_is_a_result_and_is_answered_in_the_next_request() {
    let mut first = call("greet");
    first["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {"form": {}}});
    let asked = respond(&first).expect("it has a response")["result"].clone();
    let (name, question) = asked["inputRequests"]
        .as_object()
        .and_then(|all| all.iter().next())
        .expect("an input request");
    assert_eq!(question["params"]["message"], "Who are you?");
    let mut second = first;
    second["params"]["inputResponses"] = json!({name: {"action": "accept", "content": {"name": "Ada"}}});
    second["params"]["requestState"] = asked["requestState"].clone();
    let answer = respond(&second).expect("it has a response");
    assert_eq!(answer["result"]["content"][0]["text"], "Hello, Ada", "{answer}");
}

#[test]
fn unsupported_malformed_and_failing_messages_get_errors() {
    let listen = request(
        1,
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    let unstamped = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let handshake = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": crate::eras::handshake().as_str(), "capabilities": {}, "clientInfo": {"name": "a", "version": "1"},
    }});
    for (message, code) in [
        (listen, -32601),
        (unstamped, -32602),
        (handshake, -32602),
        (request(1, "no/method", json!({})), -32601),
        (call("unknown"), -32602),
        (call("panics"), -32603),
        (json!([call("sunny")]), -32600),
        (json!({"jsonrpc": "2.0", "id": 1}), -32600),
        (json!("text"), -32600),
    ] {
        let answer = respond(&message).expect("it has a response");
        assert_eq!(answer["error"]["code"], code, "{message}: {answer}");
    }
    let broken = block_on(RESPONDER.respond(b"{", Extensions::new())).expect("it has a response");
    let broken: Value = serde_json::from_slice(&broken).expect("it is JSON");
    assert_eq!(broken["error"]["code"], -32700);
}

#[test]
fn notifications_and_responses_get_no_response() {
    let notification =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "_meta": meta()}});
    assert_eq!(respond(&notification), None);
    assert_eq!(respond(&json!({"jsonrpc": "2.0", "id": 1, "result": {}})), None);
}

#[test]
fn a_request_that_is_dropped_is_cancelled() {
    let (cancelled, learned) = std::sync::mpsc::channel();
    let router = Router::new("function", "1.0").tool("waits", "Waits", move |call: Call| {
        let cancelled = cancelled.clone();
        async move {
            cancelled.send(call.cancelled().clone()).expect("the test waits for it");
            pending::<String>().await
        }
    });
    let responder = router.responder(Options::default());
    let json = call("waits").to_string();
    {
        let mut answering = pin!(responder.respond(json.as_bytes(), Extensions::new()));
        let polled = answering.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
    }
    assert!(learned.recv().expect("it has run").is_cancelled());
}
