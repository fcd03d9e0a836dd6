//! A client with `mcp-runtime` that starts the server named in its argument, calls a tool, and answers its elicitation
//! and sampling requests.

use mcp_runtime::transport::stdio::{SpawnOptions, spawn};
use mcp_runtime::{CallServer, ClientHandler, ClientSide, Context, ErrorObject, Options, accepted, connect, hub};
use serde_json::{json, to_string};

struct Client;

impl ClientHandler<Context<ClientSide>> for Client {
    async fn elicit(
        &self,
        _: hub::ElicitRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::ElicitResult, ErrorObject> {
        accepted(&json!({"nights": 3}))
    }

    async fn create_message(
        &self,
        _: hub::CreateMessageRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::CreateMessageResult, ErrorObject> {
        Ok(hub::CreateMessageResult::new(
            "none",
            hub::Role::Assistant,
            hub::TextContent::new("Welcome!"),
        ))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::args_os().nth(1).ok_or("name a server")?;
    let server = spawn(tokio::process::Command::new(program), SpawnOptions::default())?;
    let info = hub::Implementation::new("client", "1.0");
    let capabilities = hub::ClientCapabilities::default()
        .with_elicitation(hub::ClientCapabilitiesElicitation::default())
        .with_sampling(hub::ClientCapabilitiesSampling::default());
    let session = connect(Client, info, capabilities, Options::default(), server).await?;
    let call = hub::CallToolRequestParams::new("book");
    let result = session.peer().call_tool(call).await?;
    println!("{}", to_string(&result.content)?);
    session.close().await;
    Ok(())
}
