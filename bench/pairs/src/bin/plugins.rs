//! A server whose tools report progress and change its list of tools. The gateways are tested with it.

use std::time::Duration;

use mcp_runtime::router::{Call, ProgressReporter, RouteError, tool};
use mcp_runtime::transport::stdio::stdio;
use mcp_runtime::{CallError, Options, Router};
use tokio::time::sleep;

async fn work(progress: ProgressReporter) -> Result<&'static str, CallError> {
    for step in 1..=3 {
        progress.report(f64::from(step), Some(3.0), None).await?;
        sleep(Duration::from_millis(50)).await;
    }
    Ok("done")
}

fn learn(call: Call) -> Result<(), RouteError> {
    call.router().insert(tool("recall", "Recalls it", || "known"))
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let router = Router::new("plugins", "1.0")
        .tool("work", "Works for a while", work)
        .tool("learn", "Adds a tool", learn);
    router.serve(Options::default(), stdio()?).ended().await;
    Ok(())
}
