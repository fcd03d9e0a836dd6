//! A client that reads arbitrary bytes from its server.
//!
//! An input is the server's output, which doesn't depend on the client's requests.

use mcp_runtime::Revision;
use mcp_runtime::transport::stdio::{LineLimits, LineTransport};
use mcp_runtime::{CallServer, Options, connect, hub};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::run;

pub fn check(input: &[u8]) {
    run(async {
        let (client_end, server) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(client_end);
        let (mut asked, mut answers) = tokio::io::split(server);
        let limits = LineLimits::default().message_bytes(1 << 16);
        let transport = LineTransport::new(reader, writer, limits);
        let info = hub::Implementation::new("fuzzed", "1.0");
        let writes = async {
            // Fails if the client has ended.
            let _ = answers.write_all(input).await;
            let _ = answers.shutdown().await;
            let mut requests = Vec::new();
            let _ = asked.read_to_end(&mut requests).await;
        };
        let connects = async {
            let options = Options::default();
            let Ok(session) = connect((), info, hub::ClientCapabilities::default(), options, transport).await else {
                return;
            };
            let _ = session.peer().list_tools(hub::PaginatedRequestParams::default()).await;
            session.close().await;
        };
        tokio::join!(writes, connects);
    });
}

/// Responses of servers of either era, and a request to the client.
pub fn seeds() -> Vec<Vec<u8>> {
    let of = |revision: Revision| {
        let name = revision.as_str();
        let server = json!({"name": "fuzz", "version": "1.0"});
        let agreed = json!({"protocolVersion": name, "supportedVersions": [name], "serverInfo": server,
            "resultType": "complete", "ttlMs": 1, "cacheScope": "public", "capabilities": {"tools": {}}});
        let tools = json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}], "resultType": "complete",
            "ttlMs": 0, "cacheScope": "private"});
        let lines = [
            json!({"jsonrpc": "2.0", "id": 1, "result": agreed}),
            json!({"jsonrpc": "2.0", "id": 2, "result": agreed}),
            json!({"jsonrpc": "2.0", "id": "q", "method": "roots/list"}),
            json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
            json!({"jsonrpc": "2.0", "id": 3, "result": tools}),
            json!({"jsonrpc": "2.0", "id": 2, "result": tools}),
        ];
        lines.map(|line| format!("{line}\n")).concat().into_bytes()
    };
    Revision::ALL.into_iter().map(of).collect()
}
