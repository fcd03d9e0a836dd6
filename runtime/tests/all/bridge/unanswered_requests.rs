//! The bridge's own requests that a server leaves unanswered, and the calls that they must not delay.

use mcp_runtime::Revision;
use mcp_runtime::bridge::BridgeOptions;
use serde_json::{Value, json};

use crate::bridge::{Raw, agree, by_hand, options, result, serve};

/// A request of a stateless client that wants all log messages and may be answered by tasks.
fn request(id: u64, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
        "io.modelcontextprotocol/logLevel": "debug",
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// A client that has sent a call of a tool, the server, and the task of the bridge between them.
async fn begun(capabilities: Value) -> (Raw, Raw, impl Sized) {
    let (bridge, [mut server]) = by_hand(BridgeOptions {
        server: vec![Revision::V2025_11_25],
        ..options().0
    });
    let (transport, serving) = serve(bridge);
    let client = Raw::new(transport);
    client.send(&request(1, "tools/call", json!({"name": "t"}))).await;
    let handshake = server.next().await;
    agree(&mut server, &handshake, capabilities).await;
    (client, server, serving)
}

#[tokio::test]
async fn an_unanswered_set_level_request_delays_only_the_call_that_caused_it() {
    let (mut client, mut server, _serving) = begun(json!({"tools": {}, "logging": {}})).await;
    assert_eq!(server.next().await["method"], "logging/setLevel");
    client.send(&request(2, "tools/call", json!({"name": "t"}))).await;
    let called = server.next().await;
    assert_eq!(called["method"], "tools/call", "{called}");
    server.send(&result(&called, &json!({"content": []}))).await;
    assert_eq!(client.next().await["id"], 2);
}

#[tokio::test]
async fn a_log_level_that_the_server_refuses_is_not_set_again_with_each_call() {
    let (mut client, mut server, _serving) = begun(json!({"tools": {}, "logging": {}})).await;
    let set = server.next().await;
    assert_eq!(set["method"], "logging/setLevel", "{set}");
    let error = json!({"code": -32603, "message": "no"});
    server
        .send(&json!({"jsonrpc": "2.0", "id": set["id"], "error": error}).to_string())
        .await;
    for id in 1..3 {
        let called = server.next().await;
        assert_eq!(called["method"], "tools/call", "{called}");
        server.send(&result(&called, &json!({"content": []}))).await;
        assert_eq!(client.next().await["id"], id);
        client.send(&request(id + 1, "tools/call", json!({"name": "t"}))).await;
    }
}

#[tokio::test]
async fn an_unanswered_tools_list_request_does_not_delay_other_methods() {
    let tasks = json!({"requests": {"tools": {"call": {}}}});
    let (mut client, mut server, _serving) = begun(json!({"tools": {}, "prompts": {}, "tasks": tasks})).await;
    let first_list = server.next().await;
    assert_eq!(first_list["method"], "tools/list", "{first_list}");
    client.send(&request(2, "prompts/list", json!({}))).await;
    let prompts = server.next().await;
    assert_eq!(prompts["method"], "prompts/list", "{prompts}");
    server
        .send(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#)
        .await;
    server.send(&result(&prompts, &json!({"prompts": []}))).await;
    assert_eq!(client.next().await["id"], 2);
    // A list that was requested before the change is not used after it.
    let tools = json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]});
    server.send(&result(&first_list, &tools)).await;
    let called = server.next().await;
    assert_eq!(called["method"], "tools/call", "{called}");
    server.send(&result(&called, &json!({"content": []}))).await;
    assert_eq!(client.next().await["id"], 1);
    for (id, is_known) in [(3, false), (4, true)] {
        client.send(&request(id, "tools/call", json!({"name": "t"}))).await;
        if !is_known {
            let list = server.next().await;
            assert_eq!(list["method"], "tools/list", "{list}");
            server.send(&result(&list, &tools)).await;
        }
        let called = server.next().await;
        assert_eq!(called["method"], "tools/call", "{called}");
        server.send(&result(&called, &json!({"content": []}))).await;
        assert_eq!(client.next().await["id"], id);
    }
}
