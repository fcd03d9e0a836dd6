//! What a host and a view say to each other.

use mcp_ext_apps::{
    ClientMessage, McpUiToolInputNotification, McpUiToolInputNotificationParams, McpUiToolResultNotification,
    McpUiToolResultNotificationParams, ServerMessage,
};
use mcp_runtime_core::hub;
use mcp_runtime_core::mcp_wire::{DecodeError, RawJson, RawObject};

/// Whatever a view says to its host, whose client it is. A method that isn't the extension's is one of the protocol, such as
/// `tools/call`: the host passes it on to the server of the view, and nothing to any other.
pub type FromView = ClientMessage;

/// Whatever a host says to a view.
pub type ToView = ServerMessage;

/// Gives a view the arguments of the call that it is shown for.
#[must_use]
pub fn tool_input(arguments: Option<RawObject>) -> McpUiToolInputNotification {
    McpUiToolInputNotification::new(McpUiToolInputNotificationParams {
        arguments,
        ..McpUiToolInputNotificationParams::default()
    })
}

/// Gives a view the result of the call that it is shown for.
///
/// # Errors
/// When the result has content of a kind that the extension doesn't know.
pub fn tool_result(result: &hub::CallToolResult) -> Result<McpUiToolResultNotification, DecodeError> {
    let json = RawJson::from_serialize(result).unwrap_or_else(|_| serde_json::json!({}).into());
    let params: McpUiToolResultNotificationParams = json.decode_as()?;
    Ok(McpUiToolResultNotification::new(params))
}
