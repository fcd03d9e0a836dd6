//! A client with `mcp-runtime` that starts the server named in its argument, lists its tools, and calls one.

use mcp_runtime::transport::stdio::{SpawnOptions, spawn};
use mcp_runtime::{CallServer, Options, connect, hub};
use serde_json::{json, to_string};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::args_os().nth(1).ok_or("name a server")?;
    let server = spawn(tokio::process::Command::new(program), SpawnOptions::default())?;
    let info = hub::Implementation::new("client", "1.0");
    let session = connect((), info, hub::ClientCapabilities::default(), Options::default(), server).await?;
    for tool in session.peer().list_all::<hub::Tool>().await? {
        println!("{}", tool.name);
    }
    let call = hub::CallToolRequestParams::new("add").with_arguments(json!({"text": "Buy bread"}));
    let result = session.peer().call_tool(call).await?;
    println!("{}", to_string(&result.content)?);
    session.close().await;
    Ok(())
}
