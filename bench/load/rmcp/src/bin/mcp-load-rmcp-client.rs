//! A client written with rmcp as in its documentation. It spawns the server named in its argument, and calls its tool
//! `echo`.

use anyhow::{Context, Result, ensure};
use mcp_load::Turn;
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value};
use tokio::process::Command;

#[tokio::main]
async fn main() -> Result<()> {
    let mut server = Command::new(std::env::args_os().nth(1).context("name a server")?);
    server.arg("stdio");
    let client = ().serve(TokioChildProcess::new(server)?).await?;
    let peer = client.peer().clone();
    Turn::take_all_by_tasks(move |text| {
        let peer = peer.clone();
        async move {
            let arguments = Map::from_iter([("text".to_owned(), Value::from(&*text))]);
            let call = CallToolRequestParams::new("echo").with_arguments(arguments);
            let result = peer.call_tool(call).await?;
            ensure!(result.content.len() == 1, "not an echo: {result:?}");
            Ok(())
        }
    })
    .await
}
