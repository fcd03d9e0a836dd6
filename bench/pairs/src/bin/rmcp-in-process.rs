//! A test of a server in the same process, with rmcp.

use rmcp::model::CallToolRequestParams;
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde_json::json;

#[derive(Clone)]
struct Test;

#[tool_router]
impl Test {
    #[tool(description = "Answers")]
    fn ping(&self) -> String {
        "pong".to_owned()
    }
}

#[tool_handler(name = "test", version = "1.0")]
impl ServerHandler for Test {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (ours, theirs) = tokio::io::duplex(4096);
    let server = tokio::spawn(async {
        Test.serve(theirs)
            .await?
            .waiting()
            .await
            .map_err(Box::<dyn std::error::Error + Send + Sync>::from)
    });
    let client = ().serve(ours).await?;
    let result = client.call_tool(CallToolRequestParams::new("ping")).await?;
    assert_eq!(json!(result.content), json!([{"type": "text", "text": "pong"}]));
    client.cancel().await?;
    let _ = server.await?;
    Ok(())
}
