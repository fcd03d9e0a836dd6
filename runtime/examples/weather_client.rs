//! A client that starts the server `weather`, and calls its tool.

use mcp_runtime::transport::stdio::{SpawnOptions, spawn};
use mcp_runtime::{CallServer, Options, connect, hub};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = tokio::process::Command::new("target/debug/examples/weather");
    let server = spawn(program, SpawnOptions::default())?;
    let info = hub::Implementation::new("weather-client", "1.0");
    let capabilities = hub::ClientCapabilities::default();
    let session = connect((), info, capabilities, Options::default(), server).await?;

    let call = hub::CallToolRequestParams::new("weather").with_arguments(json!({"city": "Bern"}));
    let result = session.peer().call_tool(call).await?;
    println!("{}", result.structured_content.ok_or("no structured content")?.text());
    session.close().await;
    Ok(())
}
