//! A server that reads arbitrary bytes from its standard input.
//!
//! An input is the bytes that the client sends: lines of JSON, if it conforms to the protocol.

use mcp_runtime::router::resource;
use mcp_runtime::transport::stdio::{LineLimits, LineTransport};
use mcp_runtime::{Args, Options, Revision, Router, hub, mcp_wire};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::run;

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    text: String,
}

/// A server with a tool and a resource.
pub fn server() -> Router {
    Router::new("fuzzed", "1.0")
        .tool("echo", "Gives back the text", |Args(Arguments { text })| text)
        .with(resource(hub::Resource::new("Text", "test://text"), || "text"))
}

pub fn check(input: &[u8]) {
    let output = run(async {
        let (mut client, server_end) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(server_end);
        let limits = LineLimits::default().message_bytes(1 << 16);
        let session = server().serve(Options::default(), LineTransport::new(reader, writer, limits));
        client.write_all(input).await.expect("the pipe accepts it");
        client.shutdown().await.expect("the pipe can be closed");
        let mut output = Vec::new();
        client.read_to_end(&mut output).await.expect("the server ends too");
        session.ended().await;
        output
    });
    for line in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let message = mcp_wire::from_slice::<mcp_wire::Batch<mcp_wire::RawJson>>(line);
        assert!(message.is_ok(), "not a message: {}", String::from_utf8_lossy(line));
    }
}

/// A session with a batch among its messages, and the same messages without a handshake, for each revision.
pub fn seeds() -> Vec<Vec<u8>> {
    let of = |revision: Revision| {
        let name = revision.as_str();
        let capabilities = json!({"elicitation": {}, "roots": {}, "sampling": {}});
        let info = json!({"name": "fuzz", "version": "1.0"});
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": name,
            "io.modelcontextprotocol/clientInfo": info,
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "progressToken": 1,
        });
        let begin = json!({"protocolVersion": name, "capabilities": capabilities, "clientInfo": info});
        let call = json!({"name": "echo", "arguments": {"text": "x"}, "_meta": meta});
        let lines = [
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": begin}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}),
            json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": call}),
            json!([{"jsonrpc": "2.0", "id": 2, "method": "ping"}, {"jsonrpc": "2.0", "id": 2, "method": "ping"}]),
            json!({"jsonrpc": "2.0", "id": 3, "method": "resources/subscribe", "params": {"uri": "test://text"}}),
            json!({"jsonrpc": "2.0", "id": 4, "method": "subscriptions/listen",
                "params": {"notifications": {"toolsListChanged": true}, "_meta": meta}}),
            json!({"jsonrpc": "2.0", "id": 5, "method": "server/discover", "params": {"_meta": meta}}),
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4, "_meta": meta}}),
            json!({"jsonrpc": "2.0", "id": 6, "result": {}}),
        ];
        let session = lines.each_ref().map(|line| format!("{line}\n"));
        let alone = &session[2..];
        [session.concat().into_bytes(), alone.concat().into_bytes()]
    };
    Revision::ALL.into_iter().flat_map(of).collect()
}
