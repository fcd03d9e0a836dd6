//! A server and a client of `mcp-runtime` in one process, with a method and a notification of a vendor.

use mcp_runtime::mcp_wire::UnknownMethod;
use mcp_runtime::transport::channel;
use mcp_runtime::{
    Args, CallError, Capable, Client, ClientHandler, ClientSide, Context, Options, Peer, Router, ServerSide,
    Structured, hub,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
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
        let reached = UnknownMethod::new(MILESTONE).with_params(json!(Milestone { name }));
        peer.notify_unknown(reached).await?;
    }
    Ok(Structured(Stats { visits }))
}

/// Gets the notifications of the client.
struct Notified(mpsc::Sender<Milestone>);

impl ClientHandler<Context<ClientSide>> for Notified {
    async fn on_unknown(&self, notification: UnknownMethod, _: &Context<ClientSide>) {
        let params = notification.params.filter(|_| notification.method == MILESTONE);
        if let Some(Ok(milestone)) = params.map(|params| params.parse()) {
            let _ = self.0.send(milestone).await;
        }
    }
}

impl Capable for Notified {
    fn capabilities(&self) -> hub::ClientCapabilities {
        hub::ClientCapabilities::default()
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (ours, theirs) = channel(16);
    let server = Router::new("site", "1.0")
        .custom_method(STATS, stats)
        .serve(Options::default(), theirs);
    let (sender, mut milestones) = mpsc::channel(16);
    let client = Client::new("client", "1.0")
        .handler(Notified(sender))
        .connect(ours)
        .await?;
    let Stats { visits } = client.peer().call_method(STATS, Period { days: 7 }).await?;
    let milestone = milestones.recv().await.ok_or("the client has ended")?;
    println!("{visits} visits, {}", milestone.name);
    client.close().await;
    server.ended().await;
    Ok(())
}
