//! A server with `mcp-runtime` that has a prompt with completion of an argument.

use mcp_runtime::router::{CompletionRequest, prompt};
use mcp_runtime::transport::stdio::stdio;
use mcp_runtime::{Args, Options, Router, hub};
use schemars::JsonSchema;
use serde::Deserialize;

const LANGUAGES: [&str; 4] = ["German", "French", "Italian", "Romansh"];

#[derive(Deserialize, JsonSchema)]
struct Greeting {
    /// Who is greeted.
    name: String,
    language: Option<String>,
}

fn greet(Args(Greeting { name, language }): Args<Greeting>) -> String {
    format!("Greet {name} in {}.", language.as_deref().unwrap_or("English"))
}

fn languages(typed: CompletionRequest) -> Vec<&'static str> {
    LANGUAGES
        .into_iter()
        .filter(|language| language.starts_with(&typed.value))
        .collect()
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let greet = prompt(hub::Prompt::new("greet").with_description("Greets somebody"), greet);
    let router = Router::new("greetings", "1.0").with(greet.complete("language", languages));
    router.serve(Options::default(), stdio()?).ended().await;
    Ok(())
}
