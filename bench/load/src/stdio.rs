//! Messages as lines.

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
    /// When the server has closed its input.
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
    /// The next line.
    ///
    /// # Errors
    /// When it can't be read.
    pub async fn next(&mut self) -> Result<Option<String>> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).await?;
        Ok((read > 0).then(|| line.trim_end().to_owned()))
    }

    /// The answer to a request. Whatever comes before it is passed over.
    ///
    /// # Errors
    /// When it doesn't come in time.
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
        timeout(patience, reading).await.context("no answer")?
    }
}
