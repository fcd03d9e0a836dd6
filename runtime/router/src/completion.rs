//! The functions of a route that complete arguments.

use std::sync::Arc;

use super::error::RouteError;
use super::function::BoxedFunction;
use super::state::States;

/// The functions that complete arguments, in the order of the arguments.
#[derive(Debug, Clone, Default)]
pub(super) struct Completions(pub(super) Arc<Vec<(String, BoxedFunction<Vec<String>>)>>);

impl Completions {
    /// Gives the functions their states.
    pub(super) fn bind(&mut self, states: &States) -> Result<(), RouteError> {
        let mut functions = Arc::make_mut(&mut self.0).iter_mut();
        functions.try_for_each(|(argument, function)| function.bind("completion", argument, states))
    }

    /// The arguments that have a completion.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(argument, _)| argument.as_str())
    }

    /// Whether one of the functions may send log messages.
    pub(super) fn may_log(&self) -> bool {
        self.0.iter().any(|(_, function)| function.signature.may_log())
    }
}
