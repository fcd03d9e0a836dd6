//! Requests of a server that need a capability which the client hasn't declared.

use mcp_runtime::Revision;
use mcp_runtime::bridge::BridgeOptions;
use serde_json::{Value, json};

use crate::bridge::{Raw, agree, by_hand, options, result, serve};

/// A client that declares these capabilities in a handshake, its server of 2025-11-25, and the bridge between them.
async fn begun(revision: &str, capabilities: Value) -> (Raw, Raw, impl Sized) {
    let (bridge, [mut server]) = by_hand(options().0);
    let (transport, serving) = serve(bridge);
    let mut client = Raw::new(transport);
    let info = json!({"name": "c", "version": "1"});
    let params = json!({"protocolVersion": revision, "capabilities": capabilities, "clientInfo": info});
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    client.send(&initialize.to_string()).await;
    let handshake = server.next().await;
    agree(&mut server, &handshake, json!({"tools": {}})).await;
    client.next().await;
    client
        .send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .await;
    (client, server, serving)
}

/// Sends a request of the server, and returns the code of the error that answers it.
async fn refusal(server: &mut Raw, method: &str, params: Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params});
    server.send(&request.to_string()).await;
    let refused = server.next().await;
    assert_eq!(refused["id"], method, "{refused}");
    refused["error"]["code"].clone()
}

fn form() -> Value {
    json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}})
}

fn url() -> Value {
    json!({"mode": "url", "message": "Log in", "url": "https://example.org/", "elicitationId": "e"})
}

fn sampling() -> Value {
    json!({"messages": [], "maxTokens": 1})
}

#[tokio::test]
async fn a_client_with_a_handshake_only_gets_requests_whose_capability_it_has_declared() {
    for revision in ["2025-06-18", "2025-11-25"] {
        let (mut client, mut server, _serving) = begun(revision, json!({})).await;
        for (method, params) in [
            ("elicitation/create", form()),
            ("sampling/createMessage", sampling()),
            ("roots/list", json!({})),
        ] {
            assert_eq!(
                refusal(&mut server, method, params).await,
                -32601,
                "{revision} {method}"
            );
        }
        server.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
        let pinged = client.next().await;
        assert_eq!(pinged["method"], "ping", "{pinged}");
    }
}

#[tokio::test]
async fn a_request_with_a_parameter_that_needs_an_undeclared_capability_is_refused() {
    let capabilities = json!({"elicitation": {}, "sampling": {}});
    let (mut client, mut server, _serving) = begun("2025-11-25", capabilities).await;
    assert_eq!(refusal(&mut server, "elicitation/create", url()).await, -32602);
    let mut with_tools = sampling();
    with_tools["tools"] = json!([]);
    assert_eq!(refusal(&mut server, "sampling/createMessage", with_tools).await, -32602);
    let asks = json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": form()});
    server.send(&asks.to_string()).await;
    let asked = client.next().await;
    assert_eq!(asked["params"], form(), "{asked}");
}

#[tokio::test]
async fn a_server_with_a_handshake_gets_an_error_of_its_revision_for_a_stateless_client() {
    let (bridge, [mut server]) = by_hand(BridgeOptions {
        server: vec![Revision::V2025_11_25],
        ..options().0
    });
    let (transport, _serving) = serve(bridge);
    let mut client = Raw::new(transport);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
    });
    let params = json!({"name": "t", "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    client.send(&call.to_string()).await;
    let handshake = server.next().await;
    agree(&mut server, &handshake, json!({"tools": {}})).await;
    let called = server.next().await;
    assert_eq!(refusal(&mut server, "elicitation/create", form()).await, -32601);
    server.send(&result(&called, &json!({"content": []}))).await;
    let done = client.next().await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
}

#[tokio::test]
async fn a_client_gets_every_request_whose_capability_it_has_declared() {
    let tasks = json!({"list": {}, "cancel": {}, "requests": {"sampling": {"createMessage": {}}}});
    let capabilities = json!({"elicitation": {"url": {}}, "sampling": {}, "roots": {}, "tasks": tasks});
    let (mut client, server, _serving) = begun("2025-11-25", capabilities).await;
    for (method, params) in [
        ("elicitation/create", url()),
        ("sampling/createMessage", sampling()),
        ("roots/list", json!({})),
        ("tasks/list", json!({})),
        ("tasks/get", json!({"taskId": "t"})),
        ("vendor/asks", json!({})),
    ] {
        let request = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params});
        server.send(&request.to_string()).await;
        let asked = client.next().await;
        assert_eq!((&asked["method"], &asked["params"]), (&json!(method), &params));
    }
}
