//! A server with `mcp-runtime` that has a tool with elicitation and sampling.

use mcp_runtime::router::{Answer, Call, Form};
use mcp_runtime::transport::stdio::stdio;
use mcp_runtime::{CallError, Options, Router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Stay {
    /// How many nights.
    nights: u8,
}

async fn book(form: Form<Stay>, call: Call) -> Result<String, CallError> {
    let Answer::Accepted(Stay { nights }) = form.ask("How long do you stay?").await? else {
        return Ok("not booked".to_owned());
    };
    let welcome = call.sample("Welcome a guest", 100).await?;
    Ok(format!("{nights} nights. {welcome}"))
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let router = Router::new("inn", "1.0").tool("book", "Books a room", book);
    router.serve(Options::default(), stdio()?).ended().await;
    Ok(())
}
