//! A separate Redis server for a measurement, and its statistics.

use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

/// A Redis server on a local port, which writes nothing to disk. Dropping this kills it.
#[derive(Debug)]
pub struct Redis {
    address: SocketAddr,
    _child: Child,
}

/// The work that a Redis server has done so far.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    /// The number of commands that it has run.
    pub commands: f64,
    /// The number of bytes that it has received.
    pub received: f64,
    /// Its CPU time in user and kernel mode, in seconds.
    pub cpu: f64,
    /// The memory that its data take, in bytes.
    pub memory: f64,
}

impl Redis {
    /// Starts it.
    ///
    /// # Errors
    /// If `redis-server` isn't installed, or doesn't respond.
    pub async fn start() -> Result<Self> {
        let address = TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
        let port = address.port().to_string();
        let mut command = Command::new("redis-server");
        command.args([
            "--bind",
            "127.0.0.1",
            "--port",
            &port,
            "--save",
            "",
            "--appendonly",
            "no",
        ]);
        let child = command.stdout(Stdio::null()).kill_on_drop(true).spawn();
        let redis = Self {
            address,
            _child: child.context("redis-server is needed")?,
        };
        for _ in 0..200 {
            if redis.work().await.is_ok() {
                return Ok(redis);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("redis-server doesn't respond")
    }

    /// Returns its URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}/", self.address)
    }

    /// Reads the work that it has done so far.
    ///
    /// # Errors
    /// If it doesn't respond.
    pub async fn work(&self) -> Result<Work> {
        let mut socket = TcpStream::connect(self.address).await?;
        socket.write_all(b"INFO everything\r\nQUIT\r\n").await?;
        let mut info = String::new();
        socket.read_to_string(&mut info).await?;
        let field = |name: &str| {
            let value = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            let value = value.and_then(|value| value.trim().parse::<f64>().ok());
            value.with_context(|| format!("INFO has no {name}"))
        };
        Ok(Work {
            commands: field("total_commands_processed")?,
            received: field("total_net_input_bytes")?,
            cpu: field("used_cpu_user")? + field("used_cpu_sys")?,
            memory: field("used_memory_dataset")?,
        })
    }
}
