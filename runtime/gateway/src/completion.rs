//! Completion of arguments, in a hub that has it.

use mcp_adapters::hub::{self, CompletionReference, ServerResult};
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_runtime_core::internal::invalid_params;
use mcp_runtime_core::{Context, ServerSide};

use super::handler::{GatewayHandler, unknown};
use super::session::Servers;

impl GatewayHandler {
    /// Passes a completion request on to the server of the prompt or resource template.
    pub async fn complete(
        &self,
        servers: &Servers,
        mut request: hub::CompleteRequest,
        context: &Context<ServerSide>,
    ) -> Result<ServerResult, ErrorObject> {
        let clients = &servers.clients;
        let server = match &mut request.params.ref_ {
            CompletionReference::Prompt(prompt) => {
                let found = clients.prompt_server(&prompt.name).await;
                let (server, name) = found.ok_or_else(|| unknown("prompt", &prompt.name))?;
                prompt.name = name;
                server
            }
            CompletionReference::ResourceTemplate(template) => {
                let found = clients.template_server(&template.uri).await;
                let (server, uri) = found.ok_or_else(|| unknown("resource template", &template.uri))?;
                template.uri = uri;
                server
            }
            CompletionReference::Unknown(_) => return Err(invalid_params("unknown kind of reference")),
        };
        self.forward(servers, server, request.into(), context).await
    }
}
