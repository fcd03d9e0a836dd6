//! Runs a client and a server of each revision in one process, on a system without threads: `wasi.mjs` runs it with
//! WASI.

use mcp_runtime::transport::channel;
use mcp_runtime::{Client, Options, Revision, Router};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    for revision in Revision::ALL {
        let content = runtime.block_on(call(revision))?;
        assert_eq!(content, r#"[{"type":"text","text":"sunny"}]"#);
        println!("called a tool in {revision}");
    }
    Ok(())
}

async fn call(revision: Revision) -> Result<String, Box<dyn std::error::Error>> {
    let (server, client) = channel(16);
    let router = Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny");
    let serving = router.serve(Options::default(), server);
    let options = Options {
        supported: vec![revision],
        ..Options::default()
    };
    let session = Client::new("client", "1.0").options(options).connect(client).await?;
    assert_eq!(session.peer().revision(), Some(revision));
    let result = session.call_tool("weather", ()).await?;
    session.close().await;
    serving.ended().await;
    Ok(serde_json::to_string(&result.content)?)
}
