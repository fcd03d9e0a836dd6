//! Every request ends: with a response, with an HTTP error, or because its client cancels it.

use mcp_adapters::Revision;
use mcp_runtime::transport::http::server::HttpServer;
use mcp_runtime::{Args, Options, Router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::http_server::client::*;
use crate::http_server::engine::Seen;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A server with real sessions, and with a tool that reports its start and never returns.
async fn real(config: impl FnOnce(HttpServer) -> HttpServer) -> (TestServer, mpsc::UnboundedReceiver<()>) {
    let (began, begins) = mpsc::unbounded_channel();
    let app = HttpServer::from_fn(move |transport, _| {
        let began = began.clone();
        let never = move |Args(_): Args<Nothing>| {
            let _ = began.send(());
            std::future::pending::<String>()
        };
        let router = Router::new("answers", "1.0").tool("never", "Never ends", never);
        router.serve(Options::default(), transport);
    });
    (serve_app(config(app), Seen::default(), |serve| serve).await, begins)
}

fn real_initialize(revision: &str) -> Value {
    let client = json!({"name": "client", "version": "1.0"});
    let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
    request(0, "initialize", params)
}

async fn begin(server: &TestServer, revision: &str) -> String {
    let mut answer = server.post_with(&[], &real_initialize(revision)).await;
    answer.whole().await;
    answer.session()
}

#[tokio::test]
async fn a_cancelled_call_ends_its_post_without_a_response() {
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    for json_only in [true, false] {
        let (server, mut begins) = real(|server| server.json_only(json_only)).await;
        let session = begin(&server, hub()).await;
        let never = request(1, "tools/call", json!({"name": "never", "arguments": {}}));
        let never = server.post(&session, never);
        let cancelled = async {
            begins.recv().await.unwrap();
            server.post(&session, cancel.clone()).await
        };
        let (mut never, cancelled) = tokio::join!(never, cancelled);
        assert_eq!(cancelled.status, 202);
        if never.header("content-type") == Some("text/event-stream") {
            assert!(never.events().await.is_empty());
        } else {
            assert_eq!((never.status, never.whole().await.as_str()), (202, ""));
        }
        assert_eq!(server.post(&session, request(1, "ping", json!({}))).await.status, 200);
    }
}

/// Pseudorandom numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }

    fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}

/// A valid or malformed message, and its id if it is a request.
fn message(numbers: &mut Numbers, number: usize) -> (String, Option<Value>) {
    let id = match numbers.below(4) {
        0 => json!(number),
        1 => json!(format!("id {number}")),
        2 => json!(-(number as i64)),
        _ => json!(number as u64 + (1 << 40)),
    };
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let params = numbers.pick(&[
        "{}",
        "5",
        "[1]",
        "null",
        r#"{"name":"none","arguments":{}}"#,
        r#"{"name":5}"#,
        r#"{"name":"never","arguments":{"a":1e999}}"#,
        r#"{"name":"never","arguments":{"a":"\ud800"}}"#,
        r#"{"cursor":"x","cursor":"y"}"#,
        "DEEP",
        r#"{"_meta":{"progressToken":DEEP}}"#,
        r#"{"uri":"x"}"#,
    ]);
    let params = params.replace("DEEP", &deep);
    let method = numbers.pick(&[
        "ping",
        "tools/list",
        "tools/call",
        "resources/read",
        "logging/setLevel",
        "completion/complete",
        "sampling/createMessage",
        "vendor/thing",
        "notifications/cancelled",
        "",
    ]);
    // A call of `never` would not end, because nobody cancels it.
    let method = if params.contains("never") { "tools/list" } else { method };
    match numbers.below(10) {
        0 => (
            format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#),
            None,
        ),
        1 => (format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{params}}}"#), None),
        2 => (format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{params}}}"#), None),
        3 => (format!(r#"{{"id":{id},"method":"{method}"}}"#), Some(id)),
        4 => (
            format!(r#"{{"jsonrpc":"1.0","id":{id},"method":"{method}"}}"#),
            Some(id),
        ),
        5 => {
            let message =
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params},"more":{deep}}}"#);
            (message, Some(id))
        }
        _ => {
            let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
            (message, Some(id))
        }
    }
}

/// A body of one or several such messages, some with an invalid message more, and the ids of its requests.
fn body(numbers: &mut Numbers, batches: bool) -> (String, Vec<Value>) {
    if !batches || numbers.below(3) == 0 {
        let (message, id) = message(numbers, 1);
        return (message, id.into_iter().collect());
    }
    let (mut messages, mut ids) = (Vec::new(), Vec::new());
    for number in 1..2 + numbers.below(6) {
        let (message, id) = message(numbers, number);
        messages.push(message);
        ids.extend(id);
    }
    if numbers.below(8) == 0 {
        messages.push((*numbers.pick(&["5", "{}", "[]", "null", r#"{"id":1}"#])).to_owned());
    }
    (format!("[{}]", messages.join(",")), ids)
}

/// The ids of the responses among these messages and batches.
fn answered(messages: Vec<Value>) -> Vec<Value> {
    let each = messages.into_iter().flat_map(|message| match message {
        Value::Array(messages) => messages,
        message => vec![message],
    });
    let answers = each.filter(|message| message.get("method").is_none());
    answers.map(|answer| answer["id"].clone()).collect()
}

#[tokio::test]
async fn each_request_of_a_random_batch_gets_a_response_or_its_post_an_http_error() {
    let revisions = Revision::ALL
        .into_iter()
        .filter(|revision| revision.facts().session_header.is_some());
    for revision in revisions.map(|revision| revision.as_str()) {
        for (json_only, is_stateless) in [(false, false), (true, false), (false, true)] {
            let kind = format!("{revision} {json_only} {is_stateless}");
            let (server, _begins) = real(|server| server.json_only(json_only).stateless(is_stateless)).await;
            let session = match is_stateless {
                true => String::new(),
                false => begin(&server, revision).await,
            };
            let mut headers = vec![
                ("accept", BOTH),
                ("content-type", "application/json"),
                ("mcp-protocol-version", revision),
            ];
            headers.extend((!is_stateless).then_some(("mcp-session-id", session.as_str())));
            let mut numbers = Numbers(7);
            let mut succeeded = 0;
            for _ in 0..100 {
                let (body, ids) = body(&mut numbers, true);
                let mut answer = server.send("POST", "/mcp", &headers, body.as_bytes()).await;
                match answer.status {
                    200 => {
                        let answered = answered(answer.messages().await);
                        for id in &ids {
                            assert!(answered.contains(id), "{kind}: {id} of {body}");
                        }
                        succeeded += 1;
                    }
                    202 => assert!(ids.is_empty(), "{kind}: {body}"),
                    400 => {}
                    status => panic!("{kind}: {status} for {body}"),
                }
                for id in ids {
                    let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
                    let mut ping = server.send("POST", "/mcp", &headers, ping.as_bytes()).await;
                    let said = ping.whole().await;
                    assert_eq!(ping.status, 200, "{kind}: {id} of {body}: {said}");
                }
            }
            assert!(succeeded > 5, "{kind}: {succeeded}");
        }
    }
}

#[tokio::test]
async fn a_batch_before_initialize_over_http_with_sse_leaves_nothing_in_flight() {
    let (server, _begins) = real(|server| server).await;
    let mut stream = server
        .send("GET", "/sse", &[("accept", "text/event-stream")], b"")
        .await;
    let (_, endpoint) = stream.event().await.unwrap();
    let endpoint = endpoint.as_str().unwrap().to_owned();
    let post = async |body: Value| {
        let headers = [("content-type", "application/json")];
        let answer = server
            .send("POST", &endpoint, &headers, body.to_string().as_bytes())
            .await;
        answer.status
    };
    assert_eq!(
        post(json!([
            request(1, "ping", json!({})),
            request(2, "tools/list", json!({}))
        ]))
        .await,
        202
    );
    assert_eq!(stream.event().await.unwrap().1["error"]["code"], -32600);
    assert_eq!(post(request(1, "ping", json!({}))).await, 202);
    assert_eq!(stream.event().await.unwrap().1["id"], 1);
}
