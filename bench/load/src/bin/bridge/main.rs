//! Measures the cost of `mcp-rev bridge` and of other gateways: latency, CPU time and memory.

mod routes;
mod sessions;
mod traffic;

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use mcp_load::PORT;

const REVISION: &str = "2025-11-25";

/// Measure the cost of `mcp-rev bridge` and of other gateways
#[derive(Parser)]
struct Args {
    /// The program `mcp-rev`
    bridge: PathBuf,
    /// The program `mcp-load-server`
    server: PathBuf,
    /// Another gateway in front of a stdio server. In its command, `{port}` is replaced by the port on which it
    /// listens, `{program}` by the server's program, and `{server}` by the server's command as one argument
    #[arg(long = "gateway", value_name = "NAME=COMMAND", value_parser = gateway)]
    gateways: Vec<(String, String)>,
    /// The length of a turn
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// The number of turns of each combination of transports and gateway
    #[arg(long, default_value_t = 3)]
    turns: usize,
    /// The number of calls during which memory is measured
    #[arg(long, default_value_t = 36_000)]
    calls: usize,
    /// The number of concurrent sessions
    #[arg(long, default_value_t = 1000)]
    sessions: usize,
}

fn gateway(text: &str) -> Result<(String, String), &'static str> {
    let (name, command) = text.split_once('=').ok_or("expected NAME=COMMAND")?;
    Ok((name.to_owned(), command.to_owned()))
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let mut cells = routes::measure(&args).await?;
    cells.extend(traffic::measure(&args).await?);
    cells.extend(sessions::measure(&args).await?);
    println!("{}", serde_json::to_string(&cells)?);
    Ok(())
}

impl Args {
    /// Returns the command of a bridge that listens on HTTP, in front of a stdio server.
    fn bridge_to_lines(&self) -> Vec<String> {
        let server = [self.server.display().to_string(), "stdio".to_owned()];
        [self.bridge_over_http(), vec!["--".to_owned()], server.into()].concat()
    }

    /// Returns the command of a bridge that listens on HTTP, in front of an HTTP server.
    fn bridge_to_http(&self, url: &str) -> Vec<String> {
        [self.bridge_over_http(), vec!["--to".to_owned(), url.to_owned()]].concat()
    }

    fn bridge_over_http(&self) -> Vec<String> {
        let listen = format!("http://127.0.0.1:{PORT}/mcp");
        vec![
            self.bridge.display().to_string(),
            "bridge".to_owned(),
            "--listen".to_owned(),
            listen,
        ]
    }
}
