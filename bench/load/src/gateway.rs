//! Gateway programs that are measured.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

/// The placeholder for the port in the command of a gateway.
pub const PORT: &str = "{port}";
/// The timeout for the start of a gateway.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program that serves clients over HTTP on behalf of a server. Dropping this kills it.
#[derive(Debug)]
pub struct Gateway {
    /// Its process.
    pub child: Child,
    /// Its URL.
    pub url: String,
}

impl Gateway {
    /// Starts it on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// If it can't be started, or doesn't listen in time.
    pub async fn start(command: &[String]) -> Result<Self> {
        let port = TcpListener::bind(("127.0.0.1", 0)).await?.local_addr()?.port();
        let mut words = command.iter().map(|word| word.replace(PORT, &port.to_string()));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().with_context(|| format!("can't start {command:?}"))?;
        let begun = Instant::now();
        while let Err(error) = TcpStream::connect(("127.0.0.1", port)).await {
            if begun.elapsed() > PATIENCE {
                return Err(error).context("the gateway doesn't listen");
            }
            sleep(Duration::from_millis(50)).await;
        }
        let url = format!("http://127.0.0.1:{port}/mcp");
        Ok(Self { child, url })
    }
}
