//! A server with rmcp that has a tool with elicitation and sampling. In 2026-07-28, rmcp's servers don't support these
//! requests.
#![allow(deprecated, reason = "rmcp deprecates sampling, as the specification does")]

use rmcp::model::{CreateMessageRequestParams, SamplingMessage};
use rmcp::service::ElicitationError;
use rmcp::{Peer, RoleServer, ServerHandler, ServiceExt, elicit_safe, schemars, tool, tool_handler, tool_router};
use serde::Deserialize;

#[derive(Deserialize, schemars::JsonSchema)]
struct Stay {
    /// How many nights.
    nights: u8,
}
elicit_safe!(Stay);

#[derive(Clone)]
struct Inn;

#[tool_router]
impl Inn {
    #[tool(description = "Books a room")]
    async fn book(&self, peer: Peer<RoleServer>) -> Result<String, String> {
        let nights = match peer.elicit::<Stay>("How long do you stay?").await {
            Ok(Some(Stay { nights })) => nights,
            Ok(None) | Err(ElicitationError::UserDeclined | ElicitationError::UserCancelled) => {
                return Ok("not booked".to_owned());
            }
            Err(error) => return Err(error.to_string()),
        };
        let params = CreateMessageRequestParams::new(vec![SamplingMessage::user_text("Welcome a guest")], 100);
        let answer = peer.create_message(params).await.map_err(|error| error.to_string())?;
        let content = answer.message.content.first();
        let welcome = content
            .and_then(|content| content.as_text())
            .ok_or("the model's answer isn't a text")?;
        Ok(format!("{nights} nights. {}", welcome.text))
    }
}

#[tool_handler(name = "inn", version = "1.0")]
impl ServerHandler for Inn {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Inn.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
