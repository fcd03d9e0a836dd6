//! Prompts.

use mcp_runtime::Router;
use mcp_runtime::hub::{ContentBlock, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use mcp_runtime::router::{CompletionRequest, prompt};

use crate::content::{embedded, picture, text};

pub fn add_to(router: Router) -> Router {
    let simple = Prompt::new("test_simple_prompt").with_description("A text");
    let with_arguments = Prompt::new("test_prompt_with_arguments")
        .with_description("A text with two arguments in it")
        .with_arguments(vec![required("arg1", "The first"), required("arg2", "The second")]);
    let with_resource = Prompt::new("test_prompt_with_embedded_resource")
        .with_description("A resource, and a text about it")
        .with_arguments(vec![required("resourceUri", "The address of the resource")]);
    let with_image = Prompt::new("test_prompt_with_image").with_description("A picture, and a text about it");
    router
        .with(prompt(simple, |_, _| async {
            Ok(says([text("This is a simple prompt for testing.").into()]))
        }))
        .with(
            prompt(with_arguments, |arguments, _| async move {
                let (first, second) = (&arguments["arg1"], &arguments["arg2"]);
                let words = format!("Prompt with arguments: arg1='{first}', arg2='{second}'");
                Ok(says([text(words).into()]))
            })
            .complete("arg1", |typed: CompletionRequest, _| async move {
                let known = ["paris", "park", "party"]
                    .into_iter()
                    .filter(|known| known.starts_with(&typed.value));
                known.map(str::to_owned).collect()
            }),
        )
        .with(prompt(with_resource, |arguments, _| async move {
            let contents = "Embedded resource content for testing.";
            Ok(says([
                embedded(&arguments["resourceUri"], "text/plain", contents).into(),
                text("Please process the embedded resource above.").into(),
            ]))
        }))
        .with(prompt(with_image, |_, _| async {
            Ok(says([picture().into(), text("Please analyze the image above.").into()]))
        }))
}

fn required(name: &str, description: &str) -> PromptArgument {
    PromptArgument::new(name)
        .with_description(description)
        .with_required(true)
}

/// The user says each of these.
fn says<const N: usize>(contents: [ContentBlock; N]) -> GetPromptResult {
    let messages = contents.map(|content| PromptMessage::new(Role::User, content));
    GetPromptResult::new(messages.into())
}
