//! Dropping members that the revision of the gateway's types doesn't declare.

use mcp_adapters::hub::{ClientRequest, ServerResult};
use mcp_adapters::mcp_wire::{ErrorObject, Reader, to_string};
use mcp_runtime_core::internal::internal_error;

/// The member whose value can have any keys.
const OPEN: &str = "_meta";

/// Returns a request without undeclared members.
pub fn declared_request(request: &ClientRequest) -> Result<ClientRequest, ErrorObject> {
    let json = to_string(request).map_err(internal_error)?;
    let read = Reader::new(&json).without_undeclared(OPEN).decode();
    read.map_err(internal_error)
}

/// Returns the result of a method without undeclared members.
pub fn declared_result(method: &str, result: ServerResult) -> Result<ServerResult, ErrorObject> {
    let json = to_string(&result).map_err(internal_error)?;
    let read = ServerResult::read(method, &mut Reader::new(&json).without_undeclared(OPEN));
    Ok(read.map_err(internal_error)?.unwrap_or(result))
}
