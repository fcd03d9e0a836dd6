//! A server and a client with `mcp-runtime` in one process, with a vendor's method and notification.

use mcp_runtime::transport::channel;
use mcp_runtime::{Args, CallError, Client, Options, Peer, Router, ServerSide, Structured};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

const STATS: &str = "x/stats";
const MILESTONE: &str = "notifications/x/milestone";

#[derive(Serialize, Deserialize, JsonSchema)]
struct Period {
    days: u64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Stats {
    visits: u64,
}

#[derive(Serialize, Deserialize)]
struct Milestone {
    name: String,
}

async fn stats(Args(Period { days }): Args<Period>, peer: Peer<ServerSide>) -> Result<Structured<Stats>, CallError> {
    let visits = days * 20;
    if visits > 100 {
        let name = "a hundred visits".to_owned();
        peer.notify_method(MILESTONE, Milestone { name }).await?;
    }
    Ok(Structured(Stats { visits }))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (ours, theirs) = channel(16);
    let server = Router::new("site", "1.0")
        .custom_method(STATS, stats)
        .serve(Options::default(), theirs);
    let (sender, mut milestones) = mpsc::unbounded_channel();
    let client = Client::new("client", "1.0")
        .on_notification(MILESTONE, move |milestone: Milestone| {
            let _ = sender.send(milestone);
        })
        .connect(ours)
        .await?;
    let Stats { visits } = client.peer().call_method(STATS, Period { days: 7 }).await?;
    let milestone = milestones.recv().await.ok_or("the client has ended")?;
    println!("{visits} visits, {}", milestone.name);
    client.close().await;
    server.ended().await;
    Ok(())
}
