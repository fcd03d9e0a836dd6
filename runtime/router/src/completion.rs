//! The functions of a route that complete arguments.

use std::sync::Arc;

use super::error::RouteError;
use super::function::BoxedFunction;
use super::state::States;

/// The functions that complete arguments, in the order of the arguments.
#[derive(Debug, Clone, Default)]
pub(super) struct Completions(Arc<Vec<(String, BoxedFunction<Vec<String>>)>>);

impl Completions {
    /// Gives the functions their states.
    pub(super) fn bind(&mut self, states: &States) -> Result<(), RouteError> {
        let mut functions = Arc::make_mut(&mut self.0).iter_mut();
        functions.try_for_each(|(argument, function)| function.bind("completion", argument, states))
    }

    /// Adds the function of an argument, or replaces it.
    pub(super) fn insert(&mut self, argument: String, function: BoxedFunction<Vec<String>>) {
        let functions = Arc::make_mut(&mut self.0);
        match functions.binary_search_by(|(other, _)| other.cmp(&argument)) {
            Ok(place) => functions[place].1 = function,
            Err(place) => functions.insert(place, (argument, function)),
        }
    }

    /// The function of an argument.
    pub(super) fn get(&self, argument: &str) -> Option<&BoxedFunction<Vec<String>>> {
        let mut functions = self.0.iter();
        functions.find_map(|(other, function)| (other == argument).then_some(function))
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
