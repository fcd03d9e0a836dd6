//! Values that are suggested while an argument is typed.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;

use super::{Call, Function};

/// How many values an answer has at most; it says if there are more.
pub const MAX_VALUES: usize = 100;

/// What has been typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completing {
    /// Of the argument that is being typed.
    pub value: String,
    /// The arguments that are complete already.
    pub arguments: BTreeMap<String, String>,
}

/// What completes which argument.
#[derive(Clone, Default)]
pub(super) struct Completions(BTreeMap<String, Function<Completing, Vec<String>>>);

impl Completions {
    pub(super) fn insert<F>(
        &mut self,
        argument: impl Into<String>,
        complete: impl Fn(Completing, Call) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Vec<String>> + Send + 'static,
    {
        let complete: Function<_, _> = Arc::new(move |completing, call| {
            let values = complete(completing, call);
            Box::pin(async move { Ok(values.await) })
        });
        self.0.insert(argument.into(), complete);
    }

    pub(super) fn has_any(&self) -> bool {
        !self.0.is_empty()
    }

    /// The values for an argument; none for one that nothing completes.
    pub(super) async fn complete(
        &self,
        argument: hub::CompleteRequestParamsArgument,
        context: Option<hub::CompleteRequestParamsContext>,
        call: Call,
    ) -> Result<hub::CompleteResult, ErrorObject> {
        let arguments = context.and_then(|context| context.arguments);
        let completing = Completing {
            value: argument.value,
            arguments: arguments.into_iter().flatten().collect(),
        };
        let mut values = match self.0.get(&argument.name) {
            Some(complete) => complete(completing, call).await?,
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
