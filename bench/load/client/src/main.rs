//! The client that `clients` measures. It spawns the server named in its argument, and calls its tool `echo`.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use mcp_load::Turn;
use mcp_runtime::Client;
use mcp_runtime::transport::stdio::{SpawnOptions, spawn};
use serde_json::json;
use tokio::process::Command;
use tokio::task::JoinSet;

#[tokio::main]
async fn main() -> Result<()> {
    let mut server = Command::new(std::env::args_os().nth(1).context("name a server")?);
    server.arg("stdio");
    let server = spawn(server, SpawnOptions::default())?;
    let session = Arc::new(Client::new("load", "1.0").connect(server).await?);
    Turn::take_all(async |window, text, end| {
        let text: Arc<str> = text.into();
        let mut callers = JoinSet::new();
        for _ in 0..window {
            let (session, text) = (Arc::clone(&session), Arc::clone(&text));
            callers.spawn(async move {
                let mut calls = 0;
                while Instant::now() < end {
                    let result = session.call_tool("echo", json!({"text": &*text})).await?;
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
