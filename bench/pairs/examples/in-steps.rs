//! A server of rmcp behind a client of this project, and the reverse: what one program has while it moves from one to the other.

use mcp_runtime::transport::stdio::{LineLimits, LineTransport};
use mcp_runtime::{Client, Options, Router};
use rmcp::model::CallToolRequestParams;
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde_json::json;
use tokio::io::DuplexStream;

#[derive(Clone)]
struct Old;

#[tool_router]
impl Old {
    #[tool(description = "Answers")]
    fn ping(&self) -> String {
        "pong".to_owned()
    }
}

#[tool_handler(name = "old", version = "1.0")]
impl ServerHandler for Old {}

/// One end of a pipe within the process, as a transport.
fn lines(stream: DuplexStream) -> LineTransport<tokio::io::ReadHalf<DuplexStream>, tokio::io::WriteHalf<DuplexStream>> {
    let (reader, writer) = tokio::io::split(stream);
    LineTransport::new(reader, writer, LineLimits::default())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let expected = json!([{"type": "text", "text": "pong"}]);

    let (ours, theirs) = tokio::io::duplex(4096);
    let server = tokio::spawn(async {
        Old.serve(theirs)
            .await?
            .waiting()
            .await
            .map_err(Box::<dyn std::error::Error + Send + Sync>::from)
    });
    let session = Client::new("new", "1.0").connect(lines(ours)).await?;
    let result = session.call_tool("ping", json!({})).await?;
    assert_eq!(serde_json::to_value(&result.content)?, expected);
    session.close().await;
    let _ = server.await?;

    let (ours, theirs) = tokio::io::duplex(4096);
    let router = Router::new("new", "1.0").tool("ping", "Answers", || "pong");
    let served = router.serve(Options::default(), lines(ours));
    let client = ().serve(theirs).await?;
    let result = client.call_tool(CallToolRequestParams::new("ping")).await?;
    assert_eq!(json!(result.content), expected);
    client.cancel().await?;
    served.ended().await;
    Ok(())
}
