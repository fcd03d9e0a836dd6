//! A client with rmcp that starts the server named in its argument, calls a tool, and answers its elicitation and
//! sampling requests.
#![allow(deprecated, reason = "rmcp deprecates sampling, as the specification does")]

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData, Implementation, SamplingMessage,
};
use rmcp::service::RequestContext;
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::json;

struct Client;

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder()
            .enable_elicitation()
            .enable_sampling()
            .build();
        ClientConfig::new(capabilities, Implementation::new("client", "1.0"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"nights": 3})))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(CreateMessageResult::new(
            SamplingMessage::assistant_text("Welcome!"),
            "none".to_owned(),
        ))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::args_os().nth(1).ok_or("name a server")?;
    let server = TokioChildProcess::new(tokio::process::Command::new(program))?;
    let client = Client.serve(server).await?;
    let result = client.call_tool(CallToolRequestParams::new("book")).await?;
    println!("{}", serde_json::to_string(&result.content)?);
    client.cancel().await?;
    Ok(())
}
