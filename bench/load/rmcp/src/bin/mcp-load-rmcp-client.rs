//! A client written with rmcp as in its documentation. It spawns the server named in its argument, and calls its tool
//! `echo`.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use mcp_load::Turn;
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value};
use tokio::process::Command;
use tokio::task::JoinSet;

#[tokio::main]
async fn main() -> Result<()> {
    let mut server = Command::new(std::env::args_os().nth(1).context("name a server")?);
    server.arg("stdio");
    let client = ().serve(TokioChildProcess::new(server)?).await?;
    Turn::take_all(async |window, text, end| {
        let mut callers = JoinSet::new();
        for _ in 0..window {
            let (peer, text) = (client.peer().clone(), text.clone());
            callers.spawn(async move {
                let mut calls = 0;
                while Instant::now() < end {
                    let arguments = Map::from_iter([("text".to_owned(), Value::from(text.as_str()))]);
                    let call = CallToolRequestParams::new("echo").with_arguments(arguments);
                    let result = peer.call_tool(call).await?;
                    ensure!(result.content.len() == 1, "not an echo: {result:?}");
                    calls += 1;
                }
                anyhow::Ok(calls)
            });
        }
        let mut calls = 0;
        for each in callers.join_all().await {
            calls += each?;
        }
        Ok(calls)
    })
    .await
}
