//! Completion of arguments.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;

use super::call::{Call, CompletionRequest, Input};
use super::error::RouteError;
use super::function::{BoxedFunction, Function};
use super::state::States;

/// The number of values in a result. The result says if there are more.
pub const MAX_VALUES: usize = 100;

/// The functions that complete arguments, by argument.
#[derive(Debug, Clone, Default)]
pub(super) struct Completions(Arc<BTreeMap<String, BoxedFunction<Vec<String>>>>);

impl Completions {
    pub(super) fn insert<M>(&mut self, argument: impl Into<String>, complete: impl Function<Vec<String>, M>) {
        Arc::make_mut(&mut self.0).insert(argument.into(), BoxedFunction::new(complete));
    }

    /// Gives the functions their states.
    pub(super) fn bind(&mut self, states: &States) -> Result<(), RouteError> {
        let mut functions = Arc::make_mut(&mut self.0).iter_mut();
        functions.try_for_each(|(argument, function)| function.bind("completion", argument, states))
    }

    /// The arguments that have a completion.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether one of the functions may send log messages.
    pub(super) fn may_log(&self) -> bool {
        self.0.values().any(|function| function.signature.may_log())
    }

    /// Completes an argument; without values if it has no completion.
    pub(super) async fn complete(
        &self,
        params: hub::CompleteRequestParams,
        call: Call,
    ) -> Result<hub::CompleteResult, ErrorObject> {
        let arguments = params.context.and_then(|context| context.arguments);
        let request = CompletionRequest {
            value: params.argument.value,
            arguments: arguments.into_iter().flatten().collect(),
        };
        let mut values = match self.0.get(&params.argument.name) {
            Some(complete) => complete.call(call, Input::Completion(request)).await?,
            None => Vec::new(),
        };
        let total = values.len();
        values.truncate(MAX_VALUES);
        let mut completion = hub::CompleteResultCompletion::new(values);
        completion.total = i64::try_from(total).ok();
        completion.has_more = Some(total > MAX_VALUES);
        Ok(hub::CompleteResult::new(completion))
    }
}
