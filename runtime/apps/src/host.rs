//! Messages between a host and a view.

use mcp_ext_apps::{
    ClientMessage, McpUiToolInputNotification, McpUiToolInputNotificationParams, McpUiToolResultNotification,
    McpUiToolResultNotificationParams, ServerMessage,
};
use mcp_runtime_core::hub;
use mcp_runtime_core::mcp_wire::{DecodeError, RawJson, RawObject};

/// A message of a view to its host, whose client the view is. A method that the extension doesn't declare is one of the
/// protocol, such as `tools/call`: the host passes it on to the server of the view, and to no other.
pub type FromView = ClientMessage;

/// A message of a host to a view.
pub type ToView = ServerMessage;

/// Creates the notification with the arguments of the call that a view is shown for.
#[must_use]
pub fn tool_input(arguments: Option<RawObject>) -> McpUiToolInputNotification {
    McpUiToolInputNotification::new(McpUiToolInputNotificationParams {
        arguments,
        ..McpUiToolInputNotificationParams::default()
    })
}

/// Creates the notification with the result of the call that a view is shown for.
///
/// # Errors
/// When the result has content of a kind that the extension doesn't know.
pub fn tool_result(result: &hub::CallToolResult) -> Result<McpUiToolResultNotification, DecodeError> {
    let json = RawJson::from_serialize(result).unwrap_or_else(|_| serde_json::json!({}).into());
    let params: McpUiToolResultNotificationParams = json.decode_as()?;
    Ok(McpUiToolResultNotification::new(params))
}
