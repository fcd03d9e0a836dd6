//! A client with `mcp-runtime` that starts the server named in its argument, and calls its tool `echo`.

use mcp_runtime::transport::stdio::{SpawnOptions, spawn};
use mcp_runtime::{CallServer, Options, connect, hub};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::args_os().nth(1).ok_or("name a server")?;
    let server = spawn(tokio::process::Command::new(program), SpawnOptions::default())?;
    let info = hub::Implementation::new("echo-client", "1.0");
    let capabilities = hub::ClientCapabilities::default();
    let session = connect((), info, capabilities, Options::default(), server).await?;
    let call = hub::CallToolRequestParams::new("echo").with_arguments(json!({"text": "Good morning"}));
    println!("{:?}", session.peer().call_tool(call).await?);
    session.close().await;
    Ok(())
}
