//! A server with `mcp-runtime` that has one tool, over stdio.

use mcp_runtime::{Args, Options, Router, transport::stdio};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let router = Router::new("echo", "1.0").tool("echo", "Returns its text", |Args(Text { text })| text);
    let transport = stdio()?;
    router.serve(Options::default(), transport).ended().await;
    Ok(())
}
