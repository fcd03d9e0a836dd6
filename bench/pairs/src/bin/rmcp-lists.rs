//! A client with rmcp that starts the server named in its argument, lists its tools, and calls one.

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::object;
use rmcp::transport::TokioChildProcess;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::args_os().nth(1).ok_or("name a server")?;
    let server = TokioChildProcess::new(tokio::process::Command::new(program))?;
    let client = ().serve(server).await?;
    for tool in client.list_all_tools().await? {
        println!("{}", tool.name);
    }
    let call = CallToolRequestParams::new("add").with_arguments(object!({"text": "Buy bread"}));
    let result = client.call_tool(call).await?;
    println!("{}", serde_json::to_string(&result.content)?);
    client.cancel().await?;
    Ok(())
}
