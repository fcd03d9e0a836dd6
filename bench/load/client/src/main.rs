//! The client that `clients` measures. It spawns the server named in its argument, and calls its tool `echo`.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use mcp_load::Turn;
use mcp_runtime::Client;
use mcp_runtime::transport::stdio::{SpawnOptions, spawn};
use serde_json::json;
use tokio::process::Command;

#[tokio::main]
async fn main() -> Result<()> {
    let mut server = Command::new(std::env::args_os().nth(1).context("name a server")?);
    server.arg("stdio");
    let server = spawn(server, SpawnOptions::default())?;
    let session = Arc::new(Client::new("load", "1.0").connect(server).await?);
    Turn::take_all_by_tasks(move |text| {
        let session = Arc::clone(&session);
        async move {
            let result = session.call_tool("echo", json!({"text": &*text})).await?;
            ensure!(result.content.len() == 1, "not an echo: {result:?}");
            Ok(())
        }
    })
    .await
}
