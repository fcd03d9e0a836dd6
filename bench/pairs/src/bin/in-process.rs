//! A test of a server in the same process, with `mcp-runtime`.

use mcp_runtime::transport::channel;
use mcp_runtime::{CallServer, Options, Router, connect, hub};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (ours, theirs) = channel(16);
    let server = Router::new("test", "1.0")
        .tool("ping", "Answers", || "pong")
        .serve(Options::default(), theirs);
    let info = hub::Implementation::new("test", "1.0");
    let client = connect((), info, hub::ClientCapabilities::default(), Options::default(), ours).await?;
    let result = client.peer().call_tool(hub::CallToolRequestParams::new("ping")).await?;
    assert_eq!(json!(result.content), json!([{"type": "text", "text": "pong"}]));
    client.close().await;
    server.ended().await;
    Ok(())
}
