//! Results that are decoded directly in their response, and results whose text is extracted first to report violations.

use std::sync::Arc;
use std::time::Duration;

use mcp_runtime::transport::{Incoming, Outgoing, Purpose, Receiver, Sender, Transport, channel};
use mcp_runtime::{CallServer, ClientSession, Options, Revision, hub};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::common::{connect_to, session_revisions};

/// Responses to `tools/list`. `ID` is replaced by the request's id.
const RESPONSES: [&str; 20] = [
    r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[]}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"annotations":{"title":"A"}}]}}"#,
    r#"{"jsonrpc":"2.0","result":{"tools":[]},"id":ID}"#,
    r#"{ "result" : {"tools":[], "nextCursor":"2"} , "id" : ID , "jsonrpc" : "2.0" }"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[],"nextCursor":"2","other":[null,{"a":1}]}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[],"nextCursor":""}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"nextCursor","inputSchema":{"type":"object","default":""}}]}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[],"nextCursor":null}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[],"tools":[]}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":5}]}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[]},"error":null}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[]},"error":{"code":1,"message":"both"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[]},"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[]},"other":1}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":null}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":[]}"#,
    r#"{"jsonrpc":"2.0","id":"ID","result":{"tools":[]}}"#,
    r#"{"id":ID,"result":{"tools":[]}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"no"}}"#,
    r#"{"jsonrpc":"2.0","id":ID}"#,
];

/// A client's session with a server that sends this response to every request but `initialize`.
async fn client(revision: Revision, needs_text: bool, response: &'static str) -> ClientSession {
    let (server_end, client_end) = channel(16);
    let (sender, mut receiver) = server_end.split();
    tokio::spawn(async move {
        while let Ok(Some(Incoming::Message { json, .. })) = receiver.receive().await {
            let request: Value = serde_json::from_slice(&json).unwrap();
            let Some(id) = request.get("id") else { continue };
            let answer = match request["method"].as_str().unwrap() {
                "initialize" => json!({"jsonrpc": "2.0", "id": id, "result": {
                    "protocolVersion": revision.as_str(), "capabilities": {"tools": {}},
                    "serverInfo": {"name": "raw", "version": "1.0"},
                }})
                .to_string(),
                _ => response.replace("ID", &id.to_string()),
            };
            let purpose = Purpose::Unsolicited;
            let json = answer.into_bytes();
            sender.send(Outgoing { json, purpose }).await.unwrap();
        }
    });
    let options = Options {
        supported: vec![revision],
        violations: needs_text.then(|| Arc::new(|_: &str, _: &_| {}) as _),
        ..Options::default()
    };
    connect_to(client_end, options).await.unwrap()
}

#[tokio::test]
async fn decoding_a_result_in_place_has_the_same_outcome_as_decoding_its_text() {
    for revision in session_revisions() {
        let mut listed = 0;
        for response in RESPONSES {
            let outcome = async |needs_text| {
                let session = client(revision, needs_text, response).await;
                let params = hub::PaginatedRequestParams::default();
                let listed = timeout(Duration::from_secs(10), session.peer().list_tools(params)).await;
                format!("{:?}", listed.expect("a response"))
            };
            let (in_place, as_text) = (outcome(false).await, outcome(true).await);
            assert_eq!(in_place, as_text, "{revision}: {response}");
            listed += usize::from(in_place.starts_with("Ok"));
        }
        assert!(listed > RESPONSES.len() / 3, "{revision}: {listed}");
    }
}
