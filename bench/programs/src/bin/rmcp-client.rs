//! A client with rmcp that starts the server named in its argument, and calls its tool `echo`.

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::args_os().nth(1).ok_or("name a server")?;
    let server = TokioChildProcess::new(tokio::process::Command::new(program))?;
    let client = ().serve(server).await?;
    let arguments = Map::from_iter([("text".to_owned(), Value::from("Good morning"))]);
    let call = CallToolRequestParams::new("echo").with_arguments(arguments);
    println!("{:?}", client.call_tool(call).await?);
    client.cancel().await?;
    Ok(())
}
