//! Completion of arguments, if the hub supports it.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_runtime_core::internal::{internal_error, invalid_params};
use mcp_runtime_core::{Context, ServerSide};

use super::call::{Call, Input};
use super::catalogue::Routes;
use super::completion::Completions;
use super::extract::{FromCall, Signature};
use super::function::{BoxedFunction, Function};
use super::prompt::PromptRoute;
use super::scope::{Layers, Listable};
use super::target::{Answer, Reader, Target, messages};
use super::template::TemplateRoute;
use super::tool_error::ToolError;
use super::uri_template::Variables;
use crate::Router;

/// The maximum number of values in a completion result. `hasMore` in the result reports that there are more.
pub const MAX_VALUES: usize = 100;

/// The input that the user has typed so far: an extractor for functions that complete an argument.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompletionRequest {
    /// The value of the argument so far.
    pub value: String,
    /// The other arguments that the user has entered.
    pub arguments: BTreeMap<String, String>,
}

impl FromCall for CompletionRequest {
    const MAY_REQUEST_INPUT: bool = false;

    fn declare(signature: &mut Signature) {
        signature.limit("CompletionRequest", &["completion"]);
    }

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        let request = call.other_input().cloned();
        request.ok_or_else(|| ToolError::Protocol(internal_error("the call isn't a request for completion")))
    }
}

impl PromptRoute {
    /// Adds a function that completes an argument. It takes extractors, such as
    /// [`CompletionRequest`](super::CompletionRequest), and returns strings.
    #[must_use]
    pub fn complete<M>(mut self, argument: impl Into<String>, complete: impl Function<Vec<String>, M>) -> Self {
        self.completions.insert(argument.into(), BoxedFunction::new(complete));
        self
    }
}

impl TemplateRoute {
    /// Adds a function that completes a variable. It takes extractors, such as
    /// [`CompletionRequest`](super::CompletionRequest), and returns strings.
    #[must_use]
    pub fn complete<M>(mut self, variable: impl Into<String>, complete: impl Function<Vec<String>, M>) -> Self {
        self.completions.insert(variable.into(), BoxedFunction::new(complete));
        self
    }
}

impl Completions {
    /// Adds or replaces the function that completes an argument.
    fn insert(&mut self, argument: String, function: BoxedFunction<Vec<String>>) {
        let functions = Arc::make_mut(&mut self.0);
        match functions.binary_search_by(|(other, _)| other.cmp(&argument)) {
            Ok(place) => functions[place].1 = function,
            Err(place) => functions.insert(place, (argument, function)),
        }
    }

    /// The function that completes an argument.
    fn get(&self, argument: &str) -> Option<&BoxedFunction<Vec<String>>> {
        let mut functions = self.0.iter();
        functions.find_map(|(other, function)| (other == argument).then_some(function))
    }
}

impl Routes {
    /// Whether any argument of any route has a completion.
    pub(super) fn completes(&self) -> bool {
        let of_prompts = self.prompts.values().map(|route| &route.completions);
        let of_templates = self.templates.values().map(|route| &route.completions);
        let mut completions = of_prompts.chain(of_templates);
        completions.any(|completions| completions.arguments().next().is_some())
    }
}

impl Router {
    /// Handles a request for completion.
    pub(super) async fn complete(
        &self,
        request: hub::CompleteRequest,
        context: &Context<ServerSide>,
    ) -> Result<Answer, ErrorObject> {
        let completer = self.find_completer(&request.params.ref_, context).await;
        self.answer(completer, request, hub::ClientRequest::Complete, context)
            .await
    }

    /// Finds the completions of a prompt or template.
    async fn find_completer(
        &self,
        reference: &hub::CompletionReference,
        context: &Context<ServerSide>,
    ) -> Result<Completer, ErrorObject> {
        let (completions, scope) = match reference {
            hub::CompletionReference::Prompt(prompt) => {
                let route = self.find_prompt(&prompt.name, context).await?;
                (route.completions.clone(), route.scope().clone())
            }
            hub::CompletionReference::ResourceTemplate(template) => {
                let route = self.shown(|routes| &routes.templates, &template.uri, context);
                match route.map_or_else(
                    || self.find_reader(&template.uri, context),
                    |route| Ok(Reader::Template(route, Variables::new())),
                )? {
                    Reader::Template(route, _) => (route.completions.clone(), route.scope().clone()),
                    // A resource has no variables, but clients may request completion.
                    Reader::Resource(route) => (Completions::default(), route.scope().clone()),
                }
            }
            hub::CompletionReference::Unknown(_) => return Err(invalid_params("Unknown kind of reference")),
        };
        let layers = scope.layers;
        Ok(Completer { completions, layers })
    }
}

/// The completions of a prompt's arguments or of a template's variables.
#[derive(Clone)]
struct Completer {
    completions: Completions,
    layers: Layers,
}

impl Target for Completer {
    messages!(Complete(CompleteRequest) gives Complete);

    fn layers(&self) -> &Layers {
        &self.layers
    }

    /// Completes an argument. The result has no values if the argument has no completion.
    async fn answer(self, request: hub::CompleteRequest, call: Call) -> Result<Answer, ErrorObject> {
        let params = request.params;
        let arguments = params.context.and_then(|context| context.arguments);
        let mut typed = CompletionRequest {
            value: params.argument.value,
            arguments: BTreeMap::new(),
        };
        typed.arguments.extend(arguments.into_iter().flatten());
        let mut values = match self.completions.get(&params.argument.name) {
            Some(complete) => complete.call(call, Input::Other(Box::new(typed))).await?,
            None => Vec::new(),
        };
        let total = values.len();
        values.truncate(MAX_VALUES);
        let mut completion = hub::CompleteResultCompletion::new(values);
        completion.total = i64::try_from(total).ok();
        completion.has_more = Some(total > MAX_VALUES);
        let completed = hub::CompleteResult::new(completion);
        Ok(Answer::Declared(hub::ServerResult::Complete(completed)))
    }
}
