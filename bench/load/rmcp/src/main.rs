//! A server with the tool `echo`, written with rmcp as in its documentation. It stops when its standard input ends.

use std::io::{self, Write};
use std::sync::Arc;

use axum::serve::ListenerExt;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServiceExt, schemars, tool, tool_router};
use serde::Deserialize;
use tokio::io::AsyncReadExt;

/// A server to measure
#[derive(clap::Parser)]
struct Args {
    /// Set TCP_NODELAY, which axum doesn't by default
    #[arg(long)]
    nodelay: bool,
    mode: Mode,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Mode {
    /// Over stdio.
    Stdio,
    /// Over HTTP, on a port of 127.0.0.1; prints its URL.
    Http,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

#[derive(Clone)]
struct Load;

#[tool_router(server_handler)]
impl Load {
    #[tool(description = "Returns its text")]
    async fn echo(&self, Parameters(Text { text }): Parameters<Text>) -> String {
        text
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Args { nodelay, mode } = clap::Parser::parse();
    match mode {
        Mode::Stdio => {
            Load.serve(rmcp::transport::stdio()).await?.waiting().await?;
            Ok(())
        }
        Mode::Http => Ok(over_http(nodelay).await?),
    }
}

async fn over_http(nodelay: bool) -> io::Result<()> {
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Load), sessions, StreamableHttpServerConfig::default());
    let app = axum::Router::new().nest_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    io::stdout().flush()?;
    let listener = listener.tap_io(move |connection| {
        if nodelay && let Err(error) = connection.set_nodelay(true) {
            eprintln!("TCP_NODELAY isn't set: {error}");
        }
    });
    let mut input = Vec::new();
    let mut stdin = tokio::io::stdin();
    tokio::select! {
        served = async { axum::serve(listener, app).await } => served,
        read = stdin.read_to_end(&mut input) => read.map(drop),
    }
}
