//! Prompts.

use std::fmt;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, Map};
use mcp_runtime_core::internal::invalid_params;
use serde_json::Value;

use super::call::{Call, Input};
use super::completion::Completions;
use super::error::RouteError;
use super::function::{BoxedFunction, Function};
use super::schema;
use super::scope::listable;
use super::state::States;

/// A prompt, and the function that fills it in; created by [`prompt()`].
#[derive(Clone)]
pub struct PromptRoute {
    pub(super) prompt: hub::Prompt,
    pub(super) completions: Completions,
    pub(super) function: BoxedFunction<hub::GetPromptResult>,
}

/// Makes a prompt from a function that fills it in. The function is called only if all required arguments are given.
///
/// The function takes extractors, such as [`Args`](super::Args): the members of its type are the prompt's arguments,
/// unless the prompt lists arguments itself. It returns text, messages or a `Result` (see
/// [`IntoResult`](super::IntoResult)).
///
/// ```
/// use mcp_runtime::router::{Args, prompt};
/// use mcp_runtime::{Router, hub};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Greeting {
///     /// Who is greeted.
///     name: String,
///     tone: Option<Tone>,
/// }
///
/// #[derive(Deserialize, JsonSchema)]
/// #[serde(rename_all = "lowercase")]
/// enum Tone {
///     Formal,
///     Warm,
/// }
///
/// fn greet(Args(Greeting { name, tone }): Args<Greeting>) -> String {
///     match tone {
///         Some(Tone::Formal) => format!("Write a formal greeting to {name}."),
///         _ => format!("Greet {name} warmly."),
///     }
/// }
///
/// let router = Router::new("greetings", "1.0").with(prompt(hub::Prompt::new("greet"), greet));
/// ```
pub fn prompt<M>(prompt: hub::Prompt, fill: impl Function<hub::GetPromptResult, M>) -> PromptRoute {
    PromptRoute {
        prompt,
        completions: Completions::default(),
        function: BoxedFunction::new(fill),
    }
}

impl PromptRoute {
    /// A prompt that a function has listed.
    pub(super) fn listed(prompt: hub::Prompt, function: BoxedFunction<hub::GetPromptResult>) -> Self {
        Self {
            prompt,
            completions: Completions::default(),
            function,
        }
    }

    /// Gives the functions their states, and the prompt its arguments.
    pub(super) fn bind(&mut self, states: &States) -> Result<(), RouteError> {
        let (kind, name) = ("prompt", &self.prompt.name);
        self.function.bind(kind, name, states)?;
        self.completions.bind(states)?;
        let Some(args) = self.function.signature.args(kind, name)? else {
            return Ok(());
        };
        let members = args.texts(kind, name)?;
        let Some(listed) = &self.prompt.arguments else {
            self.prompt.arguments = Some(members.into_iter().map(argument).collect());
            return Ok(());
        };
        args.check_required(kind, name, &members, |argument| {
            listed.iter().any(|it| it.name == argument)
        })
    }

    pub(super) async fn get(
        &self,
        arguments: Option<Map<String>>,
        call: Call,
    ) -> Result<hub::GetPromptResult, ErrorObject> {
        let arguments = arguments.unwrap_or_default();
        let declared = self.prompt.arguments.iter().flatten();
        let missing: Vec<&str> = declared
            .filter(|argument| argument.required == Some(true) && !arguments.contains_key(&argument.name))
            .map(|argument| argument.name.as_str())
            .collect();
        if !missing.is_empty() {
            return Err(invalid_params(format!("Missing arguments: {}", missing.join(", "))));
        }
        let mut arguments = arguments.into_iter().map(|(name, value)| (name, Value::String(value)));
        let filled = self.function.call(call, Input::Prompt(schema::object(&mut arguments)));
        Ok(filled.await?)
    }
}

/// Makes the argument of a prompt from a member of a type.
fn argument(member: schema::Member) -> hub::PromptArgument {
    let mut argument = hub::PromptArgument::new(member.name).with_required(member.is_required);
    (argument.title, argument.description) = (member.title, member.description);
    argument
}

listable!(PromptRoute.prompt: Prompt);

impl fmt::Debug for PromptRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PromptRoute").field(&self.prompt.name).finish()
    }
}
