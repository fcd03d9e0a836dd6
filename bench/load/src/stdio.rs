//! Messages as lines over a server's standard streams.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;

/// A server's standard input.
#[derive(Debug)]
pub struct Writer(pub ChildStdin);

impl Writer {
    /// Writes a line.
    ///
    /// # Errors
    /// If the server has closed its input.
    pub async fn line(&mut self, message: &str) -> std::io::Result<()> {
        let line = [message.as_bytes(), b"\n"].concat();
        self.0.write_all(&line).await?;
        self.0.flush().await
    }
}

/// A server's standard output.
#[derive(Debug)]
pub struct Lines(pub BufReader<ChildStdout>);

impl Lines {
    /// Reads the next line.
    ///
    /// # Errors
    /// If it can't be read.
    pub async fn next(&mut self) -> Result<Option<String>> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).await?;
        Ok((read > 0).then(|| line.trim_end().to_owned()))
    }

    /// Reads the response to a request, and skips messages before it.
    ///
    /// # Errors
    /// If it doesn't arrive in time.
    pub async fn answer(&mut self, id: u64, patience: Duration) -> Result<Value> {
        let reading = async {
            loop {
                let line = self.next().await?.context("the server has ended")?;
                let message: Value = serde_json::from_str(&line)?;
                if message.get("method").is_none() && message["id"] == id {
                    return Ok(message);
                }
            }
        };
        timeout(patience, reading).await.context("no response")?
    }
}
