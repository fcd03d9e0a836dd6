//! A server with rmcp that has a prompt with completion of an argument.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Implementation, PromptMessage, Reference, Role,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt, prompt, prompt_handler, prompt_router, schemars};
use serde::Deserialize;

const LANGUAGES: [&str; 4] = ["German", "French", "Italian", "Romansh"];

#[derive(Deserialize, schemars::JsonSchema)]
struct Greeting {
    /// Who is greeted.
    name: String,
    language: Option<String>,
}

#[derive(Clone)]
struct Greetings;

#[prompt_router]
impl Greetings {
    #[prompt(description = "Greets somebody")]
    fn greet(&self, Parameters(Greeting { name, language }): Parameters<Greeting>) -> Vec<PromptMessage> {
        let text = format!("Greet {name} in {}.", language.as_deref().unwrap_or("English"));
        vec![PromptMessage::new_text(Role::User, text)]
    }
}

#[prompt_handler]
impl ServerHandler for Greetings {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("greetings", "1.0"))
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = match &params.r#ref {
            Reference::Prompt(prompt) if prompt.name != "greet" => {
                return Err(ErrorData::invalid_params(
                    format!("Unknown prompt: {}", prompt.name),
                    None,
                ));
            }
            Reference::Prompt(_) if params.argument.name == "language" => {
                let typed = &params.argument.value;
                LANGUAGES
                    .into_iter()
                    .filter(|language| language.starts_with(typed))
                    .map(str::to_owned)
                    .collect()
            }
            _ => Vec::new(),
        };
        let completion = CompletionInfo::with_all_values(values);
        Ok(CompleteResult::new(
            completion.map_err(|error| ErrorData::internal_error(error, None))?,
        ))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Greetings.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
