//! Prompts.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, Map};

use super::call::{Call, Function};
use super::completion::{CompletionRequest, Completions};
use crate::error::invalid_params;

/// A prompt, and the function that fills it in; [`prompt()`] makes one.
#[derive(Clone)]
pub struct PromptRoute {
    pub(super) prompt: hub::Prompt,
    pub(super) completions: Completions,
    fill: Function<BTreeMap<String, String>, hub::GetPromptResult>,
}

/// A prompt from a function that fills it in. The function is called only with all required arguments.
pub fn prompt<F>(
    prompt: hub::Prompt,
    fill: impl Fn(BTreeMap<String, String>, Call) -> F + Send + Sync + 'static,
) -> PromptRoute
where
    F: Future<Output = Result<hub::GetPromptResult, ErrorObject>> + Send + 'static,
{
    PromptRoute {
        prompt,
        completions: Completions::default(),
        fill: Arc::new(move |arguments, call| Box::pin(fill(arguments, call))),
    }
}

impl PromptRoute {
    /// Adds a function that completes an argument.
    #[must_use]
    pub fn complete<F>(
        mut self,
        argument: impl Into<String>,
        complete: impl Fn(CompletionRequest, Call) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Vec<String>> + Send + 'static,
    {
        self.completions.insert(argument, complete);
        self
    }

    pub(super) async fn get(
        &self,
        arguments: Option<Map<String>>,
        call: Call,
    ) -> Result<hub::GetPromptResult, ErrorObject> {
        let arguments: BTreeMap<String, String> = arguments.into_iter().flatten().collect();
        let declared = self.prompt.arguments.iter().flatten();
        let missing: Vec<&str> = declared
            .filter(|argument| argument.required == Some(true) && !arguments.contains_key(&argument.name))
            .map(|argument| argument.name.as_str())
            .collect();
        if !missing.is_empty() {
            return Err(invalid_params(format!("Missing arguments: {}", missing.join(", "))));
        }
        (self.fill)(arguments, call).await
    }
}

impl fmt::Debug for PromptRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PromptRoute").field(&self.prompt.name).finish()
    }
}
