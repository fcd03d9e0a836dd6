//! Errors of a server, and the JSON of its results.

use std::error::Error;

use mcp_runtime_core::internal::{internal_error, invalid_params};
use mcp_runtime_core::mcp_wire::{Decode, Encode, RawJson, from_str};
use mcp_runtime_core::{ErrorObject, hub};
use serde_json::Value;

pub(crate) fn no_such_task() -> ErrorObject {
    invalid_params("there is no such task")
}

/// The error for a store that doesn't respond.
pub(crate) fn unavailable(error: Box<dyn Error + Send + Sync>) -> ErrorObject {
    tracing::error!(error, "the store of tasks doesn't answer");
    internal_error("the store of tasks doesn't answer")
}

pub(crate) fn encoded(result: &impl Encode) -> Result<RawJson, ErrorObject> {
    RawJson::from_encode(result).map_err(internal_error)
}

pub(crate) fn decoded<T: Decode>(params: &Value) -> Result<T, ErrorObject> {
    from_str(&params.to_string()).map_err(invalid_params)
}

/// Converts an error to the form in which a store keeps it.
pub(crate) fn stored(error: ErrorObject) -> hub::base::Error {
    let mut stored = hub::base::Error::new(error.code, error.message);
    stored.data = error.data;
    stored
}

/// Converts an error from the form in which a store keeps it.
pub(crate) fn restored(error: hub::base::Error) -> ErrorObject {
    let mut restored = ErrorObject::new(error.code, error.message);
    restored.data = error.data;
    restored
}
