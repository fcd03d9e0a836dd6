//! Servers of a gateway that fail, or change while they are asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_runtime::bridge::Connector;
use mcp_runtime::gateway::Gateway;
use mcp_runtime::transport::{Incoming, Outgoing, Purpose, Receiver, Sender, Transport, channel};
use mcp_runtime::{CallServer, Client, ClientSession, Options, Router, hub};
use serde_json::{Value, json};

use crate::many_servers::{Local, REVISIONS, speaking};

async fn connect(gateway: &Gateway, options: Options) -> ClientSession {
    let (server, transport) = channel(16);
    gateway.serve(server);
    let client = Client::new("app", "1.0").options(options);
    client.connect(transport).await.expect("the gateway serves")
}

/// A server that answers each message with those that a function gives.
fn scripted(answer: impl Fn(&Value) -> Vec<Value> + Clone + Send + Sync + 'static) -> impl Connector {
    move || {
        let (server, client) = channel(16);
        let (sender, mut receiver) = server.split();
        let answer = answer.clone();
        tokio::spawn(async move {
            while let Ok(Some(Incoming::Message { json, .. })) = receiver.receive().await {
                let message = serde_json::from_slice(&json).expect("it is JSON");
                for reply in answer(&message) {
                    let json = reply.to_string().into_bytes();
                    let purpose = Purpose::Unsolicited;
                    let _ = sender.send(Outgoing { json, purpose }).await;
                }
            }
        });
        Ok(client)
    }
}

fn result(message: &Value, result: Value) -> Vec<Value> {
    vec![json!({"jsonrpc": "2.0", "id": message["id"], "result": result})]
}

#[tokio::test]
async fn a_log_level_that_a_server_has_not_taken_is_set_with_the_next_call() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let server = scripted(move |message| match message["method"].as_str() {
        Some("initialize") => {
            let info = json!({"name": "server", "version": "1"});
            let capabilities = json!({"tools": {}, "logging": {}});
            result(
                message,
                json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}),
            )
        }
        Some("logging/setLevel") if count.fetch_add(1, Ordering::SeqCst) == 0 => {
            let error = json!({"code": -32603, "message": "not now"});
            vec![json!({"jsonrpc": "2.0", "id": message["id"], "error": error})]
        }
        Some("logging/setLevel") => result(message, json!({})),
        Some("tools/call") => result(message, json!({"content": []})),
        _ => Vec::new(),
    });
    let gateway = Gateway::new("tools", "1.0").server("a", server);
    let options = Options {
        log_level: Some(hub::LoggingLevel::Info),
        ..speaking("2025-11-25")
    };
    let session = connect(&gateway, options).await;
    for expected in [1, 2, 2] {
        session.call_tool("a_run", json!({})).await.unwrap();
        assert_eq!(asked.load(Ordering::SeqCst), expected);
    }
}

#[tokio::test]
async fn pages_follow_each_other_though_the_list_changes() {
    for revision in REVISIONS {
        let mut router = Router::new("letters", "1.0");
        for name in ["a", "b", "c", "d"] {
            router = router.tool(name, "A letter", move || name);
        }
        let server = Local::new(revision, router.clone());
        let gateway = Gateway::new("tools", "1.0").page_size(2).server("x", server);
        let session = connect(&gateway, speaking(revision)).await;
        let page = async |cursor: Option<String>| {
            let params = hub::PaginatedRequestParams {
                cursor,
                ..Default::default()
            };
            let page = session.peer().list_tools(params).await.unwrap();
            let names: Vec<_> = page.tools.into_iter().map(|tool| tool.name).collect();
            (names, page.next_cursor)
        };
        let (first, next) = page(None).await;
        assert_eq!(first, ["x_a", "x_b"]);
        router.remove_tool("a");
        router.remove_tool("b");
        let (second, next) = page(next).await;
        assert_eq!(
            (second, next),
            (vec!["x_c".to_owned(), "x_d".to_owned()], None),
            "{revision}"
        );
        let params = hub::PaginatedRequestParams::default().with_cursor("2");
        let refused = session.peer().list_tools(params).await.unwrap_err().to_string();
        assert!(refused.contains("Invalid cursor"), "{refused}");
    }
}
