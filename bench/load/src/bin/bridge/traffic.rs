//! The memory of the bridge while sessions start and end.

use anyhow::{Result, ensure};
use mcp_load::{Cell, Gateway, Http, Usage, call};
use reqwest::Client;
use tokio::task::JoinSet;

use crate::routes::check;
use crate::{Args, REVISION};

/// The number of calls in a session.
const CALLS: usize = 100;
/// The number of concurrent sessions.
const AT_ONCE: usize = 8;
/// The number of memory measurements.
const STEPS: usize = 10;

/// Sends all calls through a bridge to a stdio server.
pub async fn measure(args: &Args) -> Result<Vec<Cell>> {
    let table = format!("Resident memory of the bridge over {} calls, MB", args.calls);
    let gateway = Gateway::start(&args.bridge_to_lines()).await?;
    let client = Client::new();
    let mut cells = Vec::new();
    let rounds = (args.calls / CALLS / AT_ONCE).max(STEPS);
    for round in 1..=rounds {
        let mut sessions = JoinSet::new();
        for _ in 0..AT_ONCE {
            sessions.spawn(one_session(client.clone(), gateway.url.clone()));
        }
        for session in sessions.join_all().await {
            session?;
        }
        if round == 1 || round % (rounds / STEPS) == 0 {
            let resident = Usage::of(&gateway.child)?.resident as f64 / 1e6;
            let calls = format!("after {} calls", round * AT_ONCE * CALLS);
            cells.push(Cell::new(&table, &calls, "mcp-rev bridge", resident));
        }
    }
    Ok(cells)
}

async fn one_session(client: Client, url: String) -> Result<()> {
    let http = Http::begin(client, url, REVISION).await?;
    let text = "x".repeat(100);
    for id in 1..=CALLS as u64 {
        check(&http.send(call(id, "echo", &text)).await?.text, &text)?;
    }
    let status = http.end().await?;
    ensure!(status < 300, "a session didn't end: {status}");
    Ok(())
}
