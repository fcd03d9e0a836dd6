//! Measures the memory that idle HTTP sessions cost a server.

use anyhow::Result;
use clap::Parser;
use mcp_load::{Cell, Http, Program, Usage};
use reqwest::Client;

const REVISION: &str = "2025-11-25";

/// Opens sessions with each server, and reports the memory that they take
#[derive(Parser)]
struct Args {
    /// The servers, such as before=target/release/server
    #[arg(required = true, value_name = "NAME=COMMAND")]
    programs: Vec<Program>,
    /// The number of sessions
    #[arg(long, default_value_t = 1000)]
    sessions: u32,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let mut cells = Vec::new();
    for program in &args.programs {
        let (child, _input, url) = program.http("http").await?;
        let client = Client::new();
        // One session before the measurement, because the server's one-time allocations aren't a cost of a session.
        Http::begin(client.clone(), url.clone(), REVISION).await?;
        let before = Usage::of(&child)?.resident;
        for _ in 0..args.sessions {
            Http::begin(client.clone(), url.clone(), REVISION).await?;
        }
        let after = Usage::of(&child)?.resident;
        let each = (after as f64 - before as f64) / 1000.0 / f64::from(args.sessions);
        let row = format!("{} sessions", args.sessions);
        cells.push(Cell::new("memory of a session, KB", &row, &program.name, each));
    }
    println!("{}", serde_json::to_string(&cells)?);
    Ok(())
}
