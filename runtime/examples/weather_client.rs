//! A client that starts the server `weather`, and calls its tool.

use mcp_runtime::Client;
use mcp_runtime::transport::stdio::{SpawnOptions, spawn};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = tokio::process::Command::new("target/debug/examples/weather");
    let server = spawn(program, SpawnOptions::default())?;
    let session = Client::new("weather-client", "1.0").connect(server).await?;

    let result = session.call_tool("weather", json!({"city": "Bern"})).await?;
    println!("{}", result.structured_content.ok_or("no structured content")?.text());
    session.close().await;
    Ok(())
}
