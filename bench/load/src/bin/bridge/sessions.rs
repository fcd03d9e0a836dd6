//! Many concurrent sessions.

use std::time::Instant;

use anyhow::Result;
use mcp_load::{Cell, Gateway, Http, Program, Usage, call};
use reqwest::Client;
use tokio::task::JoinSet;

use crate::routes::check;
use crate::{Args, REVISION};

/// The number of sessions that are opened at the same time.
const AT_ONCE: usize = 50;

/// Opens sessions with an HTTP server and with stdio servers, and then calls in all of them at the same time.
pub async fn measure(args: &Args) -> Result<Vec<Cell>> {
    let program: Program = format!("server={}", args.server.display())
        .parse()
        .map_err(anyhow::Error::msg)?;
    let (behind, input, url) = program.http("http").await?;
    let mut cells = hold(args, "HTTP → HTTP", &args.bridge_to_http(&url)).await?;
    drop((behind, input));
    cells.extend(hold(args, "HTTP → stdio", &args.bridge_to_lines()).await?);
    Ok(cells)
}

async fn hold(args: &Args, column: &str, bridge: &[String]) -> Result<Vec<Cell>> {
    let gateway = Gateway::start(bridge).await?;
    let client = Client::new();
    // One session before the measurement, because the bridge's one-time allocations aren't a cost of a session.
    let first = Http::begin(client.clone(), gateway.url.clone(), REVISION).await?;
    let before = Usage::of(&gateway.child)?.resident;
    let mut sessions = Vec::new();
    while sessions.len() < args.sessions {
        let mut beginning = JoinSet::new();
        for _ in 0..AT_ONCE.min(args.sessions - sessions.len()) {
            beginning.spawn(Http::begin(client.clone(), gateway.url.clone(), REVISION));
        }
        for session in beginning.join_all().await {
            sessions.push(session?);
        }
    }
    let held = Usage::of(&gateway.child)?.resident;
    let begun = Instant::now();
    let mut calls = JoinSet::new();
    for session in &sessions {
        calls.spawn(is_answered(session.clone()));
    }
    let answered = calls
        .join_all()
        .await
        .into_iter()
        .filter(|is_answered| *is_answered)
        .count();
    let took = begun.elapsed();
    let peak = Usage::of(&gateway.child)?.peak;
    first.end().await?;
    let table = format!("{} sessions at once", args.sessions);
    Ok(vec![
        Cell::new(&table, "calls answered", column, answered as f64),
        Cell::new(&table, "seconds until all were", column, took.as_secs_f64()),
        Cell::new(
            &table,
            "memory of an idle session, KB",
            column,
            (held as f64 - before as f64) / 1e3 / args.sessions as f64,
        ),
        Cell::new(&table, "most memory of the bridge, MB", column, peak as f64 / 1e6),
    ])
}

/// Calls in a session, and returns whether the response is right.
async fn is_answered(http: Http) -> bool {
    let text = "x".repeat(100);
    let answer = http.send(call(1, "echo", &text)).await;
    answer.is_ok_and(|body| check(&body.text, &text).is_ok())
}
