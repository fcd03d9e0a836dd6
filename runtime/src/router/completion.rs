//! Completion of arguments.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;

use super::call::{Call, Function};

/// The number of values in a result. The result says if there are more.
pub const MAX_VALUES: usize = 100;

/// What the user has typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompletionRequest {
    /// The value of the argument so far.
    pub value: String,
    /// The other arguments that the user has entered.
    pub arguments: BTreeMap<String, String>,
}

/// The functions that complete arguments, by argument.
#[derive(Clone, Default)]
pub(super) struct Completions(BTreeMap<String, Function<CompletionRequest, Vec<String>>>);

impl Completions {
    pub(super) fn insert<F>(
        &mut self,
        argument: impl Into<String>,
        complete: impl Fn(CompletionRequest, Call) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Vec<String>> + Send + 'static,
    {
        let complete: Function<_, _> = Arc::new(move |request, call| {
            let values = complete(request, call);
            Box::pin(async move { Ok(values.await) })
        });
        self.0.insert(argument.into(), complete);
    }

    /// The arguments that have a completion.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Completes an argument; without values if it has no completion.
    pub(super) async fn complete(
        &self,
        argument: hub::CompleteRequestParamsArgument,
        context: Option<hub::CompleteRequestParamsContext>,
        call: Call,
    ) -> Result<hub::CompleteResult, ErrorObject> {
        let arguments = context.and_then(|context| context.arguments);
        let request = CompletionRequest {
            value: argument.value,
            arguments: arguments.into_iter().flatten().collect(),
        };
        let mut values = match self.0.get(&argument.name) {
            Some(complete) => complete(request, call).await?,
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

impl fmt::Debug for Completions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
