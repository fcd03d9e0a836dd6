//! The extractor of values of the server.

use mcp_runtime_core::internal::internal_error;

use super::{FromCall, Signature};
use crate::call::Call;
use crate::tool_error::ToolError;

/// A clone of a value of the server; see [`Router::with_state`](crate::Router::with_state).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct State<T>(pub T);

impl<T: Clone + Send + Sync + 'static> FromCall for State<T> {
    const MAY_REQUEST_INPUT: bool = false;

    fn declare(signature: &mut Signature) {
        signature.add_state::<T>();
    }

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        // This happens only for an extractor that doesn't declare that it needs the state.
        let state = call.state::<T>().cloned();
        state.map(Self).ok_or_else(|| {
            let what = format!("the router has no state of the type {}", std::any::type_name::<T>());
            ToolError::Protocol(internal_error(what))
        })
    }
}
