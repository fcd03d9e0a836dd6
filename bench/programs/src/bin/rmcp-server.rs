//! A server of rmcp with one tool, on standard input and output.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServiceExt, schemars, tool, tool_router};
use serde::Deserialize;

#[derive(Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

#[derive(Clone)]
struct Echo;

#[tool_router(server_handler)]
impl Echo {
    #[tool(description = "Gives its text back")]
    async fn echo(&self, Parameters(Text { text }): Parameters<Text>) -> String {
        text
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Echo.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
