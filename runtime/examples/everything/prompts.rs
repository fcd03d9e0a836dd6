//! Prompts.

use mcp_runtime::hub::{ContentBlock, Prompt, PromptMessage, Role};
use mcp_runtime::router::{CompletionRequest, prompt};
use mcp_runtime::{Args, Router};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::content::{embedded, picture, text};

#[derive(Deserialize, JsonSchema)]
struct Both {
    /// The first
    arg1: String,
    /// The second
    arg2: String,
}

#[derive(Deserialize, JsonSchema)]
struct About {
    /// The address of the resource
    #[serde(rename = "resourceUri")]
    uri: String,
}

pub fn add_to(router: Router) -> Router {
    let simple = Prompt::new("test_simple_prompt").with_description("A text");
    let with_arguments = Prompt::new("test_prompt_with_arguments").with_description("A text with two arguments in it");
    let with_resource =
        Prompt::new("test_prompt_with_embedded_resource").with_description("A resource, and a text about it");
    let with_image = Prompt::new("test_prompt_with_image").with_description("A picture, and a text about it");
    router
        .with(prompt(simple, || "This is a simple prompt for testing."))
        .with(prompt(with_arguments, both).complete("arg1", cities))
        .with(prompt(with_resource, about))
        .with(prompt(with_image, || {
            says([picture().into(), text("Please analyze the image above.").into()])
        }))
}

fn both(Args(Both { arg1, arg2 }): Args<Both>) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

fn cities(typed: CompletionRequest) -> Vec<&'static str> {
    let known = ["paris", "park", "party"].into_iter();
    known.filter(|known| known.starts_with(&typed.value)).collect()
}

fn about(Args(About { uri }): Args<About>) -> Vec<PromptMessage> {
    says([
        embedded(&uri, "text/plain", "Embedded resource content for testing.").into(),
        text("Please process the embedded resource above.").into(),
    ])
}

/// Returns a user message for each of these contents.
fn says<const N: usize>(contents: [ContentBlock; N]) -> Vec<PromptMessage> {
    contents.map(|content| PromptMessage::new(Role::User, content)).into()
}
