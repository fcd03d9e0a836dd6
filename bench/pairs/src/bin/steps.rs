//! A server that migrates from rmcp step by step: its rmcp tools and those of a router are one server for clients of
//! every revision. Here a client with rmcp uses it.

use mcp_runtime::gateway::Gateway;
use mcp_runtime::transport::{LineLimits, LineTransport, Transport, TransportError, channel};
use mcp_runtime::{Options, Router};
use rmcp::model::CallToolRequestParams;
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde_json::json;
use tokio::io::{DuplexStream, duplex, split};

#[derive(Clone)]
struct Old;

#[tool_router]
impl Old {
    #[tool(description = "Is written with rmcp")]
    fn old(&self) -> String {
        "old".to_owned()
    }
}

#[tool_handler(name = "old", version = "1.0")]
impl ServerHandler for Old {}

/// One end of a pipe, as a transport.
fn lines(pipe: DuplexStream) -> impl Transport {
    let (reader, writer) = split(pipe);
    LineTransport::new(reader, writer, LineLimits::default())
}

/// A connection to the server of rmcp.
fn to_old() -> Result<impl Transport, TransportError> {
    let (ours, theirs) = duplex(64 << 10);
    tokio::spawn(async {
        if let Ok(server) = Old.serve(theirs).await {
            drop(server.waiting().await);
        }
    });
    Ok(lines(ours))
}

/// A connection to the router.
fn to_new() -> Result<impl Transport, TransportError> {
    let router = Router::new("new", "1.0").tool("new", "Is written with a router", || "new");
    let (ours, theirs) = channel(16);
    router.serve(Options::default(), theirs);
    Ok(ours)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let both = Gateway::new("both", "1.0").server("old", to_old).server("new", to_new);
    let (ours, theirs) = duplex(64 << 10);
    both.flat().serve(lines(theirs));

    let client = ().serve(ours).await?;
    let tools = client.list_all_tools().await?;
    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["old", "new"]);
    for name in ["old", "new"] {
        let result = client.call_tool(CallToolRequestParams::new(name)).await?;
        assert_eq!(json!(result.content), json!([{"type": "text", "text": name}]));
    }
    client.cancel().await?;
    Ok(())
}
